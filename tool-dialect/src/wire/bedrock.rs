//! Bedrock's Converse: `toolUse` blocks, answered by `toolResult` blocks in one message of the user.

use serde_json::{Value, json};

use super::anthropic::call;
use super::raw::Raw;
use super::{Found, Returned};

fn message(body: Raw<'_>) -> Option<Raw<'_>> {
    match body.get("output") {
        Some(output) => output.get("message"),
        None => body.get("content").map(|_| body),
    }
}

pub(super) fn calls(body: Raw<'_>) -> Option<Vec<Found>> {
    let blocks = message(body)?.get("content")?.items()?;
    let calls = blocks.into_iter().filter_map(|block| block.get("toolUse"));
    Some(calls.map(|tool| call(tool, "toolUseId", "input")).collect())
}

pub(super) fn turn(body: Raw<'_>) -> Option<Vec<Value>> {
    Some(vec![message(body)?.value()])
}

pub(super) fn results(returned: &[Returned<'_>]) -> Value {
    let blocks = returned.iter().map(|Returned { answer, .. }| {
        // Bedrock refuses a text that is blank.
        let text = if answer.output.trim().is_empty() { "(nothing)" } else { &answer.output };
        let status = if answer.success { "success" } else { "error" };
        json!({"toolResult": {"toolUseId": answer.id, "content": [{"text": text}], "status": status}})
    });
    json!({"role": "user", "content": blocks.collect::<Vec<_>>()})
}
