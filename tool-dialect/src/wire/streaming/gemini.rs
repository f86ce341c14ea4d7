//! Gemini `streamGenerateContent` chunks: each holds the new parts. Calls are never split.

use serde_json::{Value, json};

use super::super::gemini;
use super::super::raw::RawJson;
use super::{PartialResponse, ProviderStream};

#[derive(Default)]
pub(super) struct GeminiStream {
    /// As JSON text, to preserve the arguments exactly.
    parts: Vec<String>,
    is_complete: bool,
}

impl ProviderStream for GeminiStream {
    fn push(&mut self, event: RawJson<'_>) -> String {
        let candidate = event.get("candidates").and_then(RawJson::items).and_then(|all| all.first().copied());
        let reason = candidate.and_then(|candidate| candidate.text_at("finishReason"));
        let is_stopped = reason.is_some_and(|reason| !matches!(reason.as_str(), "" | "FINISH_REASON_UNSPECIFIED"));
        // Prompt feedback without a block reason only holds safety ratings; the response follows.
        let is_blocked = event.get("promptFeedback").is_some_and(|feedback| feedback.get("blockReason").is_some());
        self.is_complete |= is_stopped || is_blocked;
        let parts = candidate.and_then(|candidate| candidate.get("content")).and_then(|content| content.get("parts"));
        let mut new = String::new();
        for part in parts.and_then(RawJson::items).unwrap_or_default() {
            if let Some(text) = part.text_at("text").filter(|_| !is_thought(part)) {
                new.push_str(&text);
            }
            self.add(part);
        }
        new
    }

    fn response(&self) -> PartialResponse {
        let text = format!(r#"{{"role":"model","parts":[{}]}}"#, self.parts.join(","));
        let content = RawJson::read(&text).ok();
        let calls = content.and_then(gemini::calls).unwrap_or_default();
        let turn = content.filter(|_| !self.parts.is_empty()).and_then(gemini::turn).unwrap_or_default();
        PartialResponse { calls, turn, is_complete: self.is_complete }
    }
}

impl GeminiStream {
    /// Merges text into the last part if both are of the same kind.
    fn add(&mut self, part: RawJson<'_>) {
        let Some(text) = plain_text(part) else { return self.parts.push(part.json().to_owned()) };
        if text.is_empty() {
            return;
        }
        let last = self.parts.last().and_then(|last| RawJson::read(last).ok());
        let known = last.filter(|last| is_thought(*last) == is_thought(part)).and_then(plain_text);
        match known {
            Some(known) => {
                let mut whole = part.value();
                whole["text"] = Value::from(known + &text);
                self.parts.pop();
                self.parts.push(whole.to_string());
            }
            None => self.parts.push(part.json().to_owned()),
        }
    }
}

fn is_thought(part: RawJson<'_>) -> bool {
    part.get("thought").is_some_and(|thought| thought.value() == json!(true))
}

/// Returns the text of a part that has no other fields. A part with a signature must not be merged.
fn plain_text(part: RawJson<'_>) -> Option<String> {
    let is_plain = part.fields()?.keys().all(|key| matches!(key.as_str(), "text" | "thought"));
    part.text_at("text").filter(|_| is_plain)
}
