//! OpenAI Responses: `function_call` items, answered by `function_call_output` items.

use serde_json::{Value, json};

use super::openai_chat::named;
use super::raw::RawJson;
use super::{EncodedResult, ParsedCall};
use crate::MalformedCall;

fn items(body: RawJson<'_>) -> Option<Vec<RawJson<'_>>> {
    match body.get("output") {
        Some(output) => output.items(),
        None => body.items(),
    }
}

pub(super) fn calls(body: RawJson<'_>) -> Option<Vec<ParsedCall>> {
    let calls = items(body)?.into_iter().filter(|item| item.text_at("type").as_deref() == Some("function_call"));
    Some(calls.map(call).collect())
}

fn call(item: RawJson<'_>) -> ParsedCall {
    named(item.text_at("call_id").or_else(|| item.text_at("id")).unwrap_or_default(), item)
}

/// Parses a single call.
pub(super) fn call_in(text: &str) -> ParsedCall {
    match RawJson::read(text) {
        Ok(raw) => call(raw),
        Err(error) => Err(MalformedCall::new(String::new(), None, error.to_string())),
    }
}

pub(super) fn turn(body: RawJson<'_>) -> Option<Vec<Value>> {
    Some(items(body)?.into_iter().map(RawJson::value).collect())
}

pub(super) fn result(returned: &EncodedResult<'_>) -> Value {
    json!({"type": "function_call_output", "call_id": returned.result.id, "output": returned.result.output})
}
