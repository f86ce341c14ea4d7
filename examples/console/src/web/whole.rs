//! Outputs that are too long for a page.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use tool_runtime::{Dispatcher, ToolResult};

use crate::listing::clip;

/// An output up to so many characters. Of a longer one, and of one that was too long for the model, it says how much
/// there is, and leads to all of it.
pub(super) fn beginning(result: &ToolResult, most: usize, whole: &str) -> Markup {
    let text = clip(&result.output, most);
    let spilled = result.metadata.get("spilled").and_then(|spilled| spilled["bytes"].as_u64());
    let is_whole = spilled.is_none() && text == result.output;
    html! {
        pre tabindex="0" { (text) }
        @if !is_whole {
            p.quiet {
                "This is a part of " (spilled.unwrap_or(result.output.len() as u64)) " bytes: "
                a href=(whole) { "all of it, as text" }
            }
        }
    }
}

/// The whole output of a call; nothing if it is kept no more.
pub(super) fn whole(tools: &Dispatcher, conversation: Option<&str>, result: &ToolResult) -> Option<String> {
    match result.metadata.get("spilled") {
        None => Some(result.output.clone()),
        Some(_) => tools.whole_output(conversation, result).map(|text| text.to_string()),
    }
}

/// A text as it is: a browser makes nothing of it.
pub(super) fn plain(text: Option<String>) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    match text {
        Some(text) => (headers, text).into_response(),
        None => (StatusCode::NOT_FOUND, headers, "There is no such output, or it is kept no more.").into_response(),
    }
}
