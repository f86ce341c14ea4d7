//! Bedrock Converse: `toolUse` blocks, answered by `toolResult` blocks in one user message.

use serde_json::{Value, json};

use super::anthropic::call;
use super::raw::RawJson;
use super::{EncodedResult, ParsedCall};

fn message(body: RawJson<'_>) -> Option<RawJson<'_>> {
    match body.get("output") {
        Some(output) => output.get("message"),
        None => body.get("content").map(|_| body),
    }
}

pub(super) fn calls(body: RawJson<'_>) -> Option<Vec<ParsedCall>> {
    let blocks = message(body)?.get("content")?.items()?;
    let calls = blocks.into_iter().filter_map(|block| block.get("toolUse"));
    Some(calls.map(|tool| call(tool, "toolUseId", "input")).collect())
}

pub(super) fn turn(body: RawJson<'_>) -> Option<Vec<Value>> {
    Some(vec![message(body)?.value()])
}

pub(super) fn results(returned: &[EncodedResult<'_>]) -> Value {
    let blocks = returned.iter().map(|EncodedResult { result, .. }| {
        // Bedrock rejects blank text.
        let text = if result.output.trim().is_empty() { "(nothing)" } else { &result.output };
        let status = if result.success { "success" } else { "error" };
        json!({"toolResult": {"toolUseId": result.id, "content": [{"text": text}], "status": status}})
    });
    json!({"role": "user", "content": blocks.collect::<Vec<_>>()})
}
