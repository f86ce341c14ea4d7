//! OpenAI's Chat Completions API.

use serde_json::{Value, json};

use super::reply::halves;
use super::{Called, Said};

/// A refusal has its own field, and ends like any other response.
const REFUSAL: &str = "refusal";

fn finish_reason(said: &Said) -> &'static str {
    let usual = if said.calls.is_empty() { "stop" } else { "tool_calls" };
    said.stop.filter(|stop| *stop != REFUSAL).unwrap_or(usual)
}

fn usage() -> Value {
    json!({"prompt_tokens": 80, "completion_tokens": 20, "total_tokens": 100, "prompt_tokens_details": {"cached_tokens": 30}})
}

pub fn whole(said: &Said) -> Value {
    let content = if said.text.is_empty() { Value::Null } else { said.text.as_str().into() };
    let mut message = json!({"role": "assistant", "content": content, "refusal": null, "annotations": []});
    if said.stop == Some(REFUSAL) {
        message[REFUSAL] = message["content"].take();
    }
    if let Some(thought) = &said.thought {
        message["reasoning_content"] = thought.as_str().into();
    }
    if !said.calls.is_empty() {
        message["tool_calls"] = (0..said.calls.len()).map(|at| call(said, at, &said.calls[at].arguments)).collect();
    }
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(said)});
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_763_370_000, "model": "gpt-5-mini",
        "choices": [choice], "usage": usage(),
    })
}

/// The first call of a turn with reasoning has a signature, like Gemini's behind this protocol.
fn call(said: &Said, at: usize, arguments: &str) -> Value {
    let Called { id, name, .. } = &said.calls[at];
    let mut call = json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    if at == 0 && said.thought.is_some() {
        call["extra_content"] = json!({"google": {"thought_signature": "c2lnbmVk"}});
    }
    call
}

pub fn events(said: &Said) -> Vec<String> {
    let mut deltas = vec![json!({"role": "assistant", "content": "", "refusal": null})];
    if let Some(thought) = &said.thought {
        deltas.extend(halves(thought).map(|piece| json!({"reasoning_content": piece})));
    }
    if !said.text.is_empty() {
        let place = if said.stop == Some(REFUSAL) { REFUSAL } else { "content" };
        deltas.extend(halves(&said.text).map(|piece| json!({place: piece})));
    }
    for (index, call) in said.calls.iter().enumerate() {
        let mut begin = self::call(said, index, "");
        begin["index"] = index.into();
        deltas.push(json!({"tool_calls": [begin]}));
        let pieces = halves(&call.arguments).map(|piece| json!({"index": index, "function": {"arguments": piece}}));
        deltas.extend(pieces.map(|piece| json!({"tool_calls": [piece]})));
    }
    let mut chunks: Vec<Value> = deltas.into_iter().map(|delta| chunk(&delta, Value::Null)).collect();
    chunks.push(chunk(&json!({}), finish_reason(said).into()));
    let mut last = chunk(&json!({}), Value::Null);
    last["choices"] = json!([]);
    last["usage"] = usage();
    chunks.push(last);
    let mut events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn chunk(delta: &Value, finish_reason: Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_763_370_000, "model": "gpt-5-mini",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason}],
    })
}

pub fn error(status: u16, message: &str) -> Value {
    let kind = if status == 429 { "rate_limit_error" } else { "server_error" };
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
}
