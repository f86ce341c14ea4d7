//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::Said;
use super::reply::halves;

fn stop_reason(said: &Said) -> &'static str {
    said.stop.unwrap_or(if said.calls.is_empty() { "end_turn" } else { "tool_use" })
}

fn usage() -> Value {
    json!({"input_tokens": 50, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 30})
}

pub fn whole(said: &Said) -> Value {
    let thought =
        said.thought.iter().map(|thought| json!({"type": "thinking", "thinking": thought, "signature": "c2lnbmVk"}));
    let text = (!said.text.is_empty()).then(|| json!({"type": "text", "text": said.text}));
    let calls = said
        .calls
        .iter()
        .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.object()}));
    let content: Vec<Value> = thought.chain(text).chain(calls).collect();
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
        "stop_reason": stop_reason(said), "stop_sequence": null, "usage": usage(),
    })
}

pub fn events(said: &Said) -> Vec<String> {
    let mut begun = whole(&Said { thought: None, text: String::new(), calls: Vec::new(), ..said.clone() });
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = 1.into();
    let mut events = vec![json!({"type": "message_start", "message": begun}), json!({"type": "ping"})];
    let mut blocks: Vec<(Value, Vec<Value>)> = Vec::new();
    if let Some(thought) = &said.thought {
        let mut pieces: Vec<Value> =
            halves(thought).map(|piece| json!({"type": "thinking_delta", "thinking": piece})).into();
        pieces.push(json!({"type": "signature_delta", "signature": "c2lnbmVk"}));
        blocks.push((json!({"type": "thinking", "thinking": "", "signature": ""}), pieces));
    }
    if !said.text.is_empty() {
        let pieces = halves(&said.text).map(|piece| json!({"type": "text_delta", "text": piece}));
        blocks.push((json!({"type": "text", "text": ""}), pieces.into()));
    }
    for call in &said.calls {
        let pieces = halves(&call.arguments).map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        blocks.push((json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}), pieces.into()));
    }
    for (index, (start, pieces)) in blocks.into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.extend(
            pieces.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": stop_reason(said), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}));
    events.push(json!({"type": "message_stop"}));
    let named = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.into_iter().map(named).collect()
}

pub fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
}
