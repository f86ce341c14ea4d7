//! Gemini `generateContent`: `functionCall` parts, answered by `functionResponse` parts in one user message.

use serde_json::{Value, json};

use super::anthropic::call;
use super::raw::RawJson;
use super::{EncodedResult, ParsedCall};
use crate::MalformedCall;

/// Uses the first candidate; the others are alternatives.
fn content(body: RawJson<'_>) -> Option<RawJson<'_>> {
    match body.get("candidates") {
        Some(candidates) => candidates.items()?.first()?.get("content"),
        None => body.get("parts").map(|_| body),
    }
}

pub(super) fn calls(body: RawJson<'_>) -> Option<Vec<ParsedCall>> {
    let Some(content) = content(body) else { return is_stopped(body).then(Vec::new) };
    let Some(parts) = content.get("parts") else { return Some(Vec::new()) };
    let calls = parts.items()?.into_iter().filter_map(|part| part.get("functionCall"));
    Some(calls.map(whole_call).collect())
}

/// A stopped candidate has no content, and a blocked prompt has no candidate.
fn is_stopped(body: RawJson<'_>) -> bool {
    body.get("candidates").is_some() || body.get("promptFeedback").is_some()
}

/// Rejects arguments that are streamed in parts, which the request did not ask for: they must not be taken for missing
/// arguments.
fn whole_call(function: RawJson<'_>) -> ParsedCall {
    let found = call(function, "id", "args")?;
    match function.get("partialArgs").or(function.get("willContinue")) {
        None => Ok(found),
        Some(_) => Err(MalformedCall::new(found.id, Some(found.name), "streamed arguments are not supported")),
    }
}

pub(super) fn turn(body: RawJson<'_>) -> Option<Vec<Value>> {
    match content(body) {
        Some(content) => Some(vec![content.value()]),
        None => is_stopped(body).then(Vec::new),
    }
}

pub(super) fn results(returned: &[EncodedResult<'_>]) -> Value {
    let parts = returned.iter().map(|EncodedResult { result, name, .. }| {
        let key = if result.success { "output" } else { "error" };
        let mut response = json!({"name": name, "response": {key: output(&result.output)}});
        if !result.id.is_empty() {
            response["id"] = result.id.as_str().into();
        }
        json!({"functionResponse": response})
    });
    json!({"role": "user", "parts": parts.collect::<Vec<_>>()})
}

/// Sends objects and arrays as JSON rather than as escaped text.
fn output(text: &str) -> Value {
    let is_structured = text.starts_with(['{', '[']);
    let parsed = is_structured.then(|| serde_json::from_str(text).ok()).flatten();
    parsed.unwrap_or_else(|| text.into())
}
