//! OpenAI's Chat Completions: `tool_calls` with the arguments as a string, a message of role `tool` for each result.

use serde_json::{Value, json};

use super::raw::Raw;
use super::{Found, Returned};
use crate::{Malformed, Requested};

/// The first choice is the answer; others are alternatives to it.
fn message(body: Raw<'_>) -> Option<Raw<'_>> {
    match body.get("choices") {
        Some(choices) => choices.items()?.first()?.get("message"),
        None => body.get("role").is_some().then_some(body),
    }
}

pub(super) fn calls(body: Raw<'_>) -> Option<Vec<Found>> {
    let Some(calls) = message(body)?.get("tool_calls") else { return Some(Vec::new()) };
    Some(calls.items()?.into_iter().map(call).collect())
}

/// A call that stands alone.
pub(super) fn call_in(text: &str) -> Found {
    match Raw::read(text) {
        Ok(raw) => call(raw),
        Err(error) => Err(Malformed::new(String::new(), None, error.to_string())),
    }
}

fn call(call: Raw<'_>) -> Found {
    let id = call.text_at("id").unwrap_or_default();
    let Some(function) = call.get("function") else {
        let kind = call.text_at("type").unwrap_or_else(|| "no type".to_owned());
        let message = format!("only functions are offered, this is a call of type `{kind}`");
        return Err(Malformed::new(id, None, message));
    };
    named(id, function)
}

/// A name and its arguments, which are a string here; some servers send the object itself.
pub(super) fn named(id: String, function: Raw<'_>) -> Found {
    let Some(name) = function.text_at("name") else {
        return Err(Malformed::new(id, None, "it names no function"));
    };
    let arguments = match function.get("arguments") {
        None => String::new(),
        Some(text) if text.is_string() => text.text().unwrap_or_default(),
        Some(value) => value.json().to_owned(),
    };
    // A call without arguments is often an empty text.
    let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
    Ok(Requested { id, name, arguments })
}

pub(super) fn turn(body: Raw<'_>) -> Option<Vec<Value>> {
    Some(vec![message(body)?.value()])
}

pub(super) fn result(returned: &Returned<'_>) -> Value {
    json!({"role": "tool", "tool_call_id": returned.answer.id, "content": returned.answer.output})
}
