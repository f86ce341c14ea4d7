//! Anthropic Messages: `tool_use` blocks, answered by `tool_result` blocks in one user message.

use serde_json::{Value, json};

use super::raw::RawJson;
use super::{EncodedResult, ParsedCall};
use crate::{MalformedCall, RequestedCall};

/// Ignores blocks of other types: text, thinking and server-side tools.
pub(super) fn calls(body: RawJson<'_>) -> Option<Vec<ParsedCall>> {
    let content = body.get("content")?;
    if content.is_string() {
        return Some(Vec::new());
    }
    let blocks = content.items()?.into_iter();
    let calls = blocks.filter(|block| block.text_at("type").as_deref() == Some("tool_use"));
    Some(calls.map(|block| call(block, "id", "input")).collect())
}

/// Parses a call whose arguments are an object.
pub(super) fn call(block: RawJson<'_>, id: &str, arguments: &str) -> ParsedCall {
    let id = block.text_at(id).unwrap_or_default();
    let Some(name) = block.text_at("name") else {
        return Err(MalformedCall::new(id, None, "the tool name is missing"));
    };
    let arguments = block.get(arguments).map_or("{}", RawJson::json).to_owned();
    Ok(RequestedCall { id, name, arguments })
}

pub(super) fn turn(body: RawJson<'_>) -> Option<Vec<Value>> {
    Some(vec![json!({"role": "assistant", "content": body.get("content")?.value()})])
}

pub(super) fn results(returned: &[EncodedResult<'_>]) -> Value {
    let blocks = returned.iter().map(|EncodedResult { result, .. }| {
        let mut block = json!({"type": "tool_result", "tool_use_id": result.id, "content": result.output});
        if !result.success {
            block["is_error"] = true.into();
        }
        block
    });
    json!({"role": "user", "content": blocks.collect::<Vec<_>>()})
}
