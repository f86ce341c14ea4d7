//! OpenAI's Chat Completions API, which OpenRouter, LiteLLM, Ollama, vLLM and many others implement as well.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tool_runtime::dialect::Dialect;

use super::{PastCall, Protocol, RequestParts, ResponseNotes, count, items, text};
use crate::StopReason;
use crate::providers::api_key::ApiKey;

/// The protocol, with the differences between its implementations.
pub(in crate::providers) struct OpenAi {
    pub(in crate::providers) dialect: Dialect,
    /// The key of the token limit. OpenAI's own models need the newer name, and others only know the older one.
    pub(in crate::providers) limit: &'static str,
}

impl Protocol for OpenAi {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn path(&self, _model: &str, _is_streamed: bool) -> String {
        "chat/completions".to_owned()
    }

    fn key(&self, key: &ApiKey) -> Option<(HeaderName, HeaderValue)> {
        Some((AUTHORIZATION, key.header("Bearer ")?))
    }

    fn user(&self, text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    fn assistant(&self, text: &str, calls: &[PastCall<'_>]) -> Value {
        let mut message = json!({"role": "assistant", "content": text});
        if !calls.is_empty() {
            message["tool_calls"] = calls.iter().map(|call| written(call, json!({}))).collect();
        }
        if text.is_empty() {
            message["content"] = Value::Null;
        }
        message
    }

    /// Keeps fields that servers add and expect back, such as reasoning. Removes fields that are only valid in
    /// responses.
    fn resend(&self, turn: &Value, calls: &[PastCall<'_>]) -> Option<Vec<Value>> {
        let [message] = turn.as_array()?.as_slice() else { return None };
        let mut message = message.as_object()?.clone();
        message.retain(|key, value| key == "content" || !(value.is_null() || key == "annotations" || key == "audio"));
        let known = match message.remove("tool_calls") {
            Some(Value::Array(known)) => known,
            _ => Vec::new(),
        };
        let is_said = message.get("content").is_some_and(|content| !content.is_null() && content != "");
        if known.len() != calls.len() || (calls.is_empty() && !is_said) {
            return None;
        }
        if !calls.is_empty() {
            let calls = calls.iter().zip(known).map(|(call, known)| written(call, known));
            message.insert("tool_calls".to_owned(), calls.collect());
        }
        Some(vec![Value::Object(message)])
    }

    fn ids(&self, turn: &[Value]) -> Vec<String> {
        let calls = turn.iter().flat_map(|message| items(message, "/tool_calls"));
        calls.map(|call| text(call, "/id").to_owned()).collect()
    }

    fn body(&self, request: RequestParts<'_>) -> Value {
        let system = request.system.map(|system| json!({"role": "system", "content": system}));
        let messages: Vec<Value> = system.into_iter().chain(request.messages).collect();
        let mut body = json!({"model": request.model, "messages": messages});
        if request.may_call && !request.tools.is_empty() {
            body["tools"] = request.tools.definitions().clone();
        }
        if request.is_streamed {
            body["stream"] = true.into();
            body["stream_options"] = json!({"include_usage": true});
        }
        if let Some(tokens) = request.options.max_tokens {
            body[self.limit] = tokens.into();
        }
        if let Some(temperature) = request.options.temperature {
            body["temperature"] = temperature.into();
        }
        if let Some(effort) = request.options.effort {
            match self.dialect {
                Dialect::OpenRouter => body["reasoning"]["effort"] = effort.as_str().into(),
                _ => body["reasoning_effort"] = effort.as_str().into(),
            }
        }
        body
    }

    fn read_notes(&self, event: &Value, notes: &mut ResponseNotes) {
        if let Some(input) = count(event, "/usage/prompt_tokens") {
            notes.usage.input = input;
            notes.usage.output = count(event, "/usage/completion_tokens").unwrap_or_default();
            notes.usage.cached = count(event, "/usage/prompt_tokens_details/cached_tokens").unwrap_or_default();
        }
        let is_refused = |place| !text(event, place).is_empty();
        match text(event, "/choices/0/finish_reason") {
            "length" => notes.stop = StopReason::Length,
            "content_filter" => notes.stop = StopReason::Filtered,
            _ if ["/choices/0/delta/refusal", "/choices/0/message/refusal"].into_iter().any(is_refused) => {
                notes.stop = StopReason::Filtered;
            }
            _ => {}
        }
    }

    fn side_text<'a>(&self, event: &'a Value) -> &'a str {
        text(event, "/choices/0/delta/refusal")
    }

    fn thinking(&self, event: &Value) -> String {
        let places = ["/choices/0/delta", "/choices/0/message"].map(|place| event.pointer(place));
        let said = places.into_iter().flatten().next().unwrap_or(&Value::Null);
        // Servers use either key, and some use both.
        let known = [text(said, "/reasoning_content"), text(said, "/reasoning")];
        known.into_iter().find(|thought| !thought.is_empty()).unwrap_or_default().to_owned()
    }

    fn text(&self, response: &Value) -> String {
        let message = "/choices/0/message";
        match response.pointer(message).and_then(|message| message.get("content")) {
            Some(Value::String(content)) => content.clone(),
            // Some servers respond with an array of parts.
            Some(parts @ Value::Array(_)) => items(parts, "").map(|part| text(part, "/text")).collect(),
            _ => text(response, "/choices/0/message/refusal").to_owned(),
        }
    }
}

/// Encodes a call, keeping additional fields of the server.
fn written(call: &PastCall<'_>, mut known: Value) -> Value {
    if !known.is_object() {
        known = json!({});
    }
    known["id"] = call.id.as_str().into();
    known["type"] = "function".into();
    known["function"] = json!({"name": call.name, "arguments": call.arguments});
    if let Some(known) = known.as_object_mut() {
        known.retain(|key, value| !(value.is_null() || matches!(key.as_str(), "index" | "custom")));
    }
    known
}
