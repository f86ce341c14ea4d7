//! OpenAI's Responses: `function_call` items, answered by `function_call_output` items.

use serde_json::{Value, json};

use super::openai_chat::named;
use super::raw::Raw;
use super::{Found, Returned};
use crate::Malformed;

fn items(body: Raw<'_>) -> Option<Vec<Raw<'_>>> {
    match body.get("output") {
        Some(output) => output.items(),
        None => body.items(),
    }
}

pub(super) fn calls(body: Raw<'_>) -> Option<Vec<Found>> {
    let calls = items(body)?.into_iter().filter(|item| item.text_at("type").as_deref() == Some("function_call"));
    Some(calls.map(call).collect())
}

fn call(item: Raw<'_>) -> Found {
    named(item.text_at("call_id").or_else(|| item.text_at("id")).unwrap_or_default(), item)
}

/// A call that stands alone.
pub(super) fn call_in(text: &str) -> Found {
    match Raw::read(text) {
        Ok(raw) => call(raw),
        Err(error) => Err(Malformed::new(String::new(), None, error.to_string())),
    }
}

pub(super) fn turn(body: Raw<'_>) -> Option<Vec<Value>> {
    Some(items(body)?.into_iter().map(Raw::value).collect())
}

pub(super) fn result(returned: &Returned<'_>) -> Value {
    json!({"type": "function_call_output", "call_id": returned.answer.id, "output": returned.answer.output})
}
