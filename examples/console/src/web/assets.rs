//! Static files that are embedded in the program.

use axum::Router;
use axum::http::header;
use axum::routing::get;

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

const FILES: [(&str, &str, &str); 10] = [
    ("/assets/style.css", STYLE, include_str!("../../assets/style.css")),
    ("/assets/chat.css", STYLE, include_str!("../../assets/chat.css")),
    ("/assets/chat.js", SCRIPT, include_str!("../../assets/chat.js")),
    ("/assets/list.js", SCRIPT, include_str!("../../assets/list.js")),
    ("/assets/send.js", SCRIPT, include_str!("../../assets/send.js")),
    ("/assets/form.js", SCRIPT, include_str!("../../assets/form.js")),
    ("/assets/fields.js", SCRIPT, include_str!("../../assets/fields.js")),
    ("/assets/dialects.js", SCRIPT, include_str!("../../assets/dialects.js")),
    ("/assets/login.js", SCRIPT, include_str!("../../assets/login.js")),
    ("/assets/icon.svg", "image/svg+xml", include_str!("../../assets/icon.svg")),
];

/// Returns a router with a route for each file.
pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, content)| {
        let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
        router.route(path, get(async move || (headers, content)))
    })
}
