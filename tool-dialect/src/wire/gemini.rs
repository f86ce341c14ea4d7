//! Gemini's `generateContent`: `functionCall` parts, answered by `functionResponse` parts in one message of the user.

use serde_json::{Value, json};

use super::anthropic::call;
use super::raw::Raw;
use super::{Found, Returned};

/// The first candidate is the answer; others are alternatives to it.
fn content(body: Raw<'_>) -> Option<Raw<'_>> {
    match body.get("candidates") {
        Some(candidates) => candidates.items()?.first()?.get("content"),
        None => body.get("parts").map(|_| body),
    }
}

pub(super) fn calls(body: Raw<'_>) -> Option<Vec<Found>> {
    // A candidate that was stopped has no content.
    let Some(content) = content(body) else { return body.get("candidates").map(|_| Vec::new()) };
    let Some(parts) = content.get("parts") else { return Some(Vec::new()) };
    let calls = parts.items()?.into_iter().filter_map(|part| part.get("functionCall"));
    Some(calls.map(|function| call(function, "id", "args")).collect())
}

pub(super) fn turn(body: Raw<'_>) -> Option<Vec<Value>> {
    Some(vec![content(body)?.value()])
}

pub(super) fn results(returned: &[Returned<'_>]) -> Value {
    let parts = returned.iter().map(|Returned { answer, name, .. }| {
        let key = if answer.success { "output" } else { "error" };
        let mut response = json!({"name": name, "response": {key: output(&answer.output)}});
        if !answer.id.is_empty() {
            response["id"] = answer.id.as_str().into();
        }
        json!({"functionResponse": response})
    });
    json!({"role": "user", "parts": parts.collect::<Vec<_>>()})
}

/// Objects and lists go as they are, not as text with escapes.
fn output(text: &str) -> Value {
    let is_structured = text.starts_with(['{', '[']);
    let parsed = is_structured.then(|| serde_json::from_str(text).ok()).flatten();
    parsed.unwrap_or_else(|| text.into())
}
