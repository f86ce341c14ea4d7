//! Gemini's `generateContent`: `functionCall` parts, answered by `functionResponse` parts in one message of the user.

use serde_json::{Value, json};

use super::anthropic::call;
use super::raw::Raw;
use super::{Found, Returned};
use crate::Malformed;

/// The first candidate is the answer; others are alternatives to it.
fn content(body: Raw<'_>) -> Option<Raw<'_>> {
    match body.get("candidates") {
        Some(candidates) => candidates.items()?.first()?.get("content"),
        None => body.get("parts").map(|_| body),
    }
}

pub(super) fn calls(body: Raw<'_>) -> Option<Vec<Found>> {
    let Some(content) = content(body) else { return is_stopped(body).then(Vec::new) };
    let Some(parts) = content.get("parts") else { return Some(Vec::new()) };
    let calls = parts.items()?.into_iter().filter_map(|part| part.get("functionCall"));
    Some(calls.map(whole_call).collect())
}

/// A candidate that was stopped has no content, and to a prompt that was refused there is no candidate.
fn is_stopped(body: Raw<'_>) -> bool {
    body.get("candidates").is_some() || body.get("promptFeedback").is_some()
}

/// Whoever asks for arguments in parts reads them by another way; they must not pass for none.
fn whole_call(function: Raw<'_>) -> Found {
    let found = call(function, "id", "args")?;
    match function.get("partialArgs").or(function.get("willContinue")) {
        None => Ok(found),
        Some(_) => {
            Err(Malformed::new(found.id, Some(found.name), "its arguments come in parts, which was not asked for"))
        }
    }
}

pub(super) fn turn(body: Raw<'_>) -> Option<Vec<Value>> {
    match content(body) {
        Some(content) => Some(vec![content.value()]),
        None => is_stopped(body).then(Vec::new),
    }
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
