//! Files that pages need, out of the program itself.

use axum::Router;
use axum::http::header;
use axum::routing::get;

const FILES: [(&str, &str, &str); 4] = [
    ("/assets/style.css", "text/css; charset=utf-8", include_str!("../../assets/style.css")),
    ("/assets/chat.js", "text/javascript; charset=utf-8", include_str!("../../assets/chat.js")),
    ("/assets/form.js", "text/javascript; charset=utf-8", include_str!("../../assets/form.js")),
    ("/assets/icon.svg", "image/svg+xml", include_str!("../../assets/icon.svg")),
];

/// A route for each of them.
pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, content)| {
        let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
        router.route(path, get(async move || (headers, content)))
    })
}
