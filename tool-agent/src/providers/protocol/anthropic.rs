//! Anthropic's Messages API.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use tool_runtime::dialect::Dialect;

use super::{PastCall, Protocol, RequestParts, ResponseNotes, count, items, text};
use crate::StopReason;
use crate::providers::api_key::ApiKey;

/// The default for the required `max_tokens`. Every model since Claude 4 accepts it, and a smaller one would cut off
/// calls that write a file.
const MAX_TOKENS: u32 = 32_000;

pub(in crate::providers) struct Anthropic;

impl Protocol for Anthropic {
    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn path(&self, _model: &str, _is_streamed: bool) -> String {
        "v1/messages".to_owned()
    }

    fn key(&self, key: &ApiKey) -> Option<(HeaderName, HeaderValue)> {
        Some((HeaderName::from_static("x-api-key"), key.header("")?))
    }

    fn headers(&self) -> &[(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn user(&self, text: &str) -> Value {
        json!({"role": "user", "content": [{"type": "text", "text": text}]})
    }

    fn assistant(&self, text: &str, calls: &[PastCall<'_>]) -> Value {
        let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
        let calls = calls
            .iter()
            .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.object()}));
        json!({"role": "assistant", "content": text.into_iter().chain(calls).collect::<Vec<_>>()})
    }

    /// Removes blank texts, and reasoning at the end of a response that was cut off: models produce both, and the API
    /// rejects both.
    fn resend(&self, turn: &Value, calls: &[PastCall<'_>]) -> Option<Vec<Value>> {
        let [message] = turn.as_array()?.as_slice() else { return None };
        let mut content = message.get("content")?.as_array()?.clone();
        content.retain(|block| block["type"] != "text" || !text(block, "/text").trim().is_empty());
        let is_thought = |block: &Value| matches!(text(block, "/type"), "thinking" | "redacted_thinking");
        while content.pop_if(|block| is_thought(block)).is_some() {}
        let mut calls = calls.iter();
        for block in content.iter_mut().filter(|block| block["type"] == "tool_use") {
            let call = calls.next()?;
            block["id"] = call.id.as_str().into();
            block["name"] = call.name.as_str().into();
            if !block["input"].is_object() {
                block["input"] = json!({});
            }
        }
        let is_fit = calls.next().is_none() && !content.is_empty();
        is_fit.then(|| vec![json!({"role": "assistant", "content": content})])
    }

    fn ids(&self, turn: &[Value]) -> Vec<String> {
        let blocks = turn.iter().flat_map(|message| items(message, "/content"));
        let calls = blocks.filter(|block| block["type"] == "tool_use");
        calls.map(|block| text(block, "/id").to_owned()).collect()
    }

    fn body(&self, request: RequestParts<'_>) -> Value {
        let mut messages = request.messages;
        mark_for_cache(messages.last_mut());
        let max_tokens = request.options.max_tokens.unwrap_or(MAX_TOKENS);
        let mut body = json!({"model": request.model, "max_tokens": max_tokens, "messages": messages});
        if let Some(system) = request.system {
            body["system"] = json!([{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]);
        }
        // The API requires tools if the conversation contains calls, even if the model may not call any.
        if !request.tools.is_empty() {
            body["tools"] = request.tools.definitions().clone();
            if !request.may_call {
                body["tool_choice"] = json!({"type": "none"});
            }
        }
        if request.is_streamed {
            body["stream"] = true.into();
        }
        if let Some(effort) = request.options.effort {
            body["output_config"]["effort"] = effort.as_str().into();
        }
        // The API rejects a temperature.
        body
    }

    /// Tokens read from and written to the cache are not part of `input_tokens`. An event that does not mention them
    /// leaves the counts of an earlier one.
    fn read_notes(&self, event: &Value, notes: &mut ResponseNotes) {
        for place in ["/usage", "/message/usage"] {
            let Some(usage) = event.pointer(place) else { continue };
            if let Some(input) = count(usage, "/input_tokens") {
                notes.usage.cached = count(usage, "/cache_read_input_tokens").unwrap_or(notes.usage.cached);
                notes.cache_written = count(usage, "/cache_creation_input_tokens").unwrap_or(notes.cache_written);
                notes.usage.input = input.saturating_add(notes.cache_written).saturating_add(notes.usage.cached);
            }
            if let Some(output) = count(usage, "/output_tokens") {
                notes.usage.output = output;
            }
        }
        notes.is_over |= event["type"] == "message_stop";
        let stop = [text(event, "/delta/stop_reason"), text(event, "/stop_reason")].concat();
        match stop.as_str() {
            "max_tokens" | "model_context_window_exceeded" => notes.stop = StopReason::Length,
            "refusal" => notes.stop = StopReason::Filtered,
            _ => {}
        }
    }

    fn thinking(&self, event: &Value) -> String {
        let whole = items(event, "/content").filter(|block| block["type"] == "thinking");
        let pieces = [text(event, "/content_block/thinking"), text(event, "/delta/thinking")];
        whole.map(|block| text(block, "/thinking")).chain(pieces).collect()
    }

    fn text(&self, response: &Value) -> String {
        let blocks = items(response, "/content").filter(|block| block["type"] == "text");
        blocks.map(|block| text(block, "/text")).collect()
    }
}

/// Marks the conversation so far for the provider's prompt cache, because the next request repeats it.
fn mark_for_cache(message: Option<&mut Value>) {
    let block = message.and_then(|message| message["content"].as_array_mut()).and_then(|blocks| blocks.last_mut());
    if let Some(block) = block {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}
