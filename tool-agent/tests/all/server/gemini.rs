//! Gemini's `generateContent` API.

use serde_json::{Value, json};

use super::Said;
use super::reply::{Called, halves};

fn response(parts: &[Value], finish_reason: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(reason) = finish_reason {
        candidate["finishReason"] = reason.into();
    }
    let usage = json!({"promptTokenCount": 80, "cachedContentTokenCount": 30, "candidatesTokenCount": 20, "totalTokenCount": 100});
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-flash", "responseId": "r1"})
}

/// The first call of a turn with reasoning has the signature. Calls often have no id.
fn call(said: &Said, at: usize, call: &Called) -> Value {
    let mut part = json!({"functionCall": {"name": call.name, "args": call.object()}});
    if !call.id.is_empty() {
        part["functionCall"]["id"] = call.id.as_str().into();
    }
    if at == 0 && said.thought.is_some() {
        part["thoughtSignature"] = "c2lnbmVk".into();
    }
    part
}

pub fn whole(said: &Said) -> Value {
    let thought = said.thought.iter().map(|thought| json!({"text": thought, "thought": true}));
    let text = (!said.text.is_empty()).then(|| json!({"text": said.text}));
    let calls = said.calls.iter().enumerate().map(|(at, one)| call(said, at, one));
    let parts: Vec<Value> = thought.chain(text).chain(calls).collect();
    response(&parts, Some(said.stop.unwrap_or("STOP")))
}

pub fn events(said: &Said) -> Vec<String> {
    let mut chunks = Vec::new();
    if let Some(thought) = &said.thought {
        chunks.extend(halves(thought).map(|piece| response(&[json!({"text": piece, "thought": true})], None)));
    }
    if !said.text.is_empty() {
        chunks.extend(halves(&said.text).map(|piece| response(&[json!({"text": piece})], None)));
    }
    chunks.extend(said.calls.iter().enumerate().map(|(at, one)| response(&[call(said, at, one)], None)));
    chunks.push(response(&[json!({"text": ""})], Some(said.stop.unwrap_or("STOP"))));
    // Gemini's streams use CRLF.
    chunks.into_iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
}

pub fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        429 => "RESOURCE_EXHAUSTED",
        _ => "UNAVAILABLE",
    };
    json!({"error": {"code": status, "message": message, "status": kind}})
}
