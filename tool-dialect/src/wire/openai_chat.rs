//! OpenAI Chat Completions: `tool_calls` with the arguments as a string, and one message with role `tool` per result.

use serde_json::{Value, json};

use super::raw::RawJson;
use super::{EncodedResult, ParsedCall};
use crate::{MalformedCall, RequestedCall};

/// Uses the first choice; the others are alternatives.
fn message(body: RawJson<'_>) -> Option<RawJson<'_>> {
    match body.get("choices") {
        Some(choices) => choices.items()?.first()?.get("message"),
        None => body.get("role").is_some().then_some(body),
    }
}

pub(super) fn calls(body: RawJson<'_>) -> Option<Vec<ParsedCall>> {
    let Some(calls) = message(body)?.get("tool_calls") else { return Some(Vec::new()) };
    Some(calls.items()?.into_iter().map(call).collect())
}

/// Parses a single call.
pub(super) fn call_in(text: &str) -> ParsedCall {
    match RawJson::read(text) {
        Ok(raw) => call(raw),
        Err(error) => Err(MalformedCall::new(String::new(), None, error.to_string())),
    }
}

fn call(call: RawJson<'_>) -> ParsedCall {
    let id = call.text_at("id").unwrap_or_default();
    let Some(function) = call.get("function") else {
        let kind = call.text_at("type").unwrap_or_else(|| "no type".to_owned());
        let message = format!("only function calls are supported, not calls of type `{kind}`");
        return Err(MalformedCall::new(id, None, message));
    };
    named(id, function)
}

/// Parses a name and arguments. The arguments are a string, but some servers send an object.
pub(super) fn named(id: String, function: RawJson<'_>) -> ParsedCall {
    let Some(name) = function.text_at("name") else {
        return Err(MalformedCall::new(id, None, "the function name is missing"));
    };
    let arguments = match function.get("arguments") {
        None => String::new(),
        Some(text) if text.is_string() => text.text().unwrap_or_default(),
        Some(value) => value.json().to_owned(),
    };
    // Many models send an empty string for a call without arguments.
    let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
    Ok(RequestedCall { id, name, arguments })
}

pub(super) fn turn(body: RawJson<'_>) -> Option<Vec<Value>> {
    Some(vec![message(body)?.value()])
}

pub(super) fn result(returned: &EncodedResult<'_>) -> Value {
    json!({"role": "tool", "tool_call_id": returned.result.id, "content": returned.result.output})
}
