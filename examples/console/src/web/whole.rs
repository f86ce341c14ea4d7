//! Texts that are too long for a page.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use crate::listing::clip;

/// A text up to so many characters. Of a longer one it says how much is left out, and leads to all of it.
pub(super) fn beginning(text: &str, most: usize, whole: &str) -> Markup {
    let left_out = text.chars().count().saturating_sub(most);
    html! {
        pre tabindex="0" { (clip(text, most)) }
        @if left_out > 0 {
            p.quiet { (left_out) " more characters: " a.whole href=(whole) { "all of it, as text" } }
        }
    }
}

/// A text as it is: a browser makes nothing of it.
pub(super) fn plain(text: String) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (headers, text).into_response()
}
