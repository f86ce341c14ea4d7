//! Anthropic's Messages: `tool_use` blocks, answered by `tool_result` blocks in one message of the user.

use serde_json::{Value, json};

use super::raw::Raw;
use super::{Found, Returned};
use crate::{Malformed, Requested};

/// Blocks of other types are text, thoughts, or tools that the provider runs itself.
pub(super) fn calls(body: Raw<'_>) -> Option<Vec<Found>> {
    let content = body.get("content")?;
    if content.is_string() {
        return Some(Vec::new());
    }
    let blocks = content.items()?.into_iter();
    let calls = blocks.filter(|block| block.text_at("type").as_deref() == Some("tool_use"));
    Some(calls.map(|block| call(block, "id", "input")).collect())
}

/// A call with its arguments as an object.
pub(super) fn call(block: Raw<'_>, id: &str, arguments: &str) -> Found {
    let id = block.text_at(id).unwrap_or_default();
    let Some(name) = block.text_at("name") else {
        return Err(Malformed::new(id, None, "it names no tool"));
    };
    let arguments = block.get(arguments).map_or("{}", Raw::json).to_owned();
    Ok(Requested { id, name, arguments })
}

pub(super) fn turn(body: Raw<'_>) -> Option<Vec<Value>> {
    Some(vec![json!({"role": "assistant", "content": body.get("content")?.value()})])
}

pub(super) fn results(returned: &[Returned<'_>]) -> Value {
    let blocks = returned.iter().map(|Returned { answer, .. }| {
        let mut block = json!({"type": "tool_result", "tool_use_id": answer.id, "content": answer.output});
        if !answer.success {
            block["is_error"] = true.into();
        }
        block
    });
    json!({"role": "user", "content": blocks.collect::<Vec<_>>()})
}
