//! Gemini's `generateContent` API.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use tool_runtime::dialect::Dialect;

use super::{PastCall, Protocol, RequestParts, ResponseNotes, count, items, text};
use crate::StopReason;
use crate::providers::api_key::ApiKey;

pub(in crate::providers) struct Gemini;

const PARTS: &str = "/candidates/0/content/parts";

impl Protocol for Gemini {
    fn dialect(&self) -> Dialect {
        Dialect::Gemini
    }

    fn path(&self, model: &str, is_streamed: bool) -> String {
        let verb = if is_streamed { "streamGenerateContent?alt=sse" } else { "generateContent" };
        format!("v1beta/models/{model}:{verb}")
    }

    /// Uses a header because URLs are logged.
    fn key(&self, key: &ApiKey) -> Option<(HeaderName, HeaderValue)> {
        Some((HeaderName::from_static("x-goog-api-key"), key.header("")?))
    }

    fn user(&self, text: &str) -> Value {
        json!({"role": "user", "parts": [{"text": text}]})
    }

    /// Omits ids: those of other providers mean nothing here, and results are matched by order.
    fn assistant(&self, text: &str, calls: &[PastCall<'_>]) -> Value {
        let text = (!text.is_empty()).then(|| json!({"text": text}));
        let calls = calls.iter().map(|call| json!({"functionCall": {"name": call.name, "args": call.object()}}));
        json!({"role": "model", "parts": text.into_iter().chain(calls).collect::<Vec<_>>()})
    }

    fn resend(&self, turn: &Value, calls: &[PastCall<'_>]) -> Option<Vec<Value>> {
        let [content] = turn.as_array()?.as_slice() else { return None };
        let mut parts = content.get("parts")?.as_array()?.clone();
        let mut calls = calls.iter();
        for part in &mut parts {
            if part.get("functionCall").is_some() {
                part["functionCall"]["name"] = calls.next()?.name.as_str().into();
            }
        }
        let is_fit = calls.next().is_none() && parts.iter().any(|part| part["thought"] != true);
        is_fit.then(|| vec![json!({"role": "model", "parts": parts})])
    }

    fn ids(&self, turn: &[Value]) -> Vec<String> {
        let parts = turn.iter().flat_map(|content| items(content, "/parts"));
        let calls = parts.filter_map(|part| part.get("functionCall"));
        calls.map(|call| text(call, "/id").to_owned()).collect()
    }

    fn body(&self, request: RequestParts<'_>) -> Value {
        let mut body = json!({"contents": request.messages});
        if let Some(system) = request.system {
            body["systemInstruction"] = json!({"parts": [{"text": system}]});
        }
        if request.may_call && !request.tools.is_empty() {
            body["tools"] = request.tools.definitions().clone();
        }
        if let Some(tokens) = request.options.max_tokens {
            body["generationConfig"]["maxOutputTokens"] = tokens.into();
        }
        if let Some(temperature) = request.options.temperature {
            body["generationConfig"]["temperature"] = temperature.into();
        }
        if let Some(effort) = request.options.effort {
            body["generationConfig"]["thinkingConfig"]["thinkingLevel"] = effort.as_str().to_uppercase().into();
        }
        body
    }

    fn read_notes(&self, event: &Value, notes: &mut ResponseNotes) {
        if let Some(usage) = event.get("usageMetadata") {
            let of = |key| count(usage, key).unwrap_or_default();
            notes.usage.input = of("/promptTokenCount").saturating_add(of("/toolUsePromptTokenCount"));
            notes.usage.output = of("/candidatesTokenCount").saturating_add(of("/thoughtsTokenCount"));
            notes.usage.cached = of("/cachedContentTokenCount");
        }
        if event.pointer("/promptFeedback/blockReason").is_some() {
            notes.stop = StopReason::Filtered;
        }
        match text(event, "/candidates/0/finishReason") {
            "" | "STOP" => {}
            "MAX_TOKENS" => notes.stop = StopReason::Length,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => notes.is_garbled = true,
            _ => notes.stop = StopReason::Filtered,
        }
    }

    fn thinking(&self, event: &Value) -> String {
        items(event, PARTS).filter(|part| part["thought"] == true).map(|part| text(part, "/text")).collect()
    }

    fn text(&self, response: &Value) -> String {
        items(response, PARTS).filter(|part| part["thought"] != true).map(|part| text(part, "/text")).collect()
    }
}
