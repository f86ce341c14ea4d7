//! Outputs that are too long for a page.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use tool_runtime::{Dispatcher, ToolResult};

use crate::listing::clip;

/// Renders an output up to a number of characters. If it was cut, or was spilled, shows its size and a link to the full
/// text.
pub(super) fn output_excerpt(result: &ToolResult, limit: usize, link: &str) -> Markup {
    let text = clip(&result.output, limit);
    let spilled = result.metadata.get("spilled").and_then(|spilled| spilled["bytes"].as_u64());
    let is_complete = spilled.is_none() && text == result.output;
    html! {
        pre tabindex="0" { (text) }
        @if !is_complete {
            p.quiet {
                "This is a part of " (spilled.unwrap_or(result.output.len() as u64)) " bytes: "
                a href=(link) { "full output as text" }
            }
        }
    }
}

/// Returns the full output of a call, or `None` if it is no longer stored.
pub(super) fn full_output(tools: &Dispatcher, conversation: Option<&str>, result: &ToolResult) -> Option<String> {
    match result.metadata.get("spilled") {
        None => Some(result.output.clone()),
        Some(_) => tools.whole_output(conversation, result).map(|text| text.to_string()),
    }
}

/// Returns a plain-text response that browsers do not interpret.
pub(super) fn plain(text: Option<String>) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    match text {
        Some(text) => (headers, text).into_response(),
        None => (StatusCode::NOT_FOUND, headers, "There is no such output, or it is no longer stored.").into_response(),
    }
}
