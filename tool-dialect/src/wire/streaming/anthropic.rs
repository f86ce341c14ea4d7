//! Anthropic Messages events: content blocks that start, grow and stop.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::raw::RawJson;
use super::{PartialCall, PartialResponse, ProviderStream, append};

#[derive(Default)]
pub(super) struct AnthropicStream {
    blocks: BTreeMap<u64, AnthropicBlock>,
    is_complete: bool,
}

#[derive(Default)]
struct AnthropicBlock {
    value: Value,
    /// The arguments as text, for client and server tools.
    input: String,
    is_stopped: bool,
}

impl ProviderStream for AnthropicStream {
    fn push(&mut self, event: RawJson<'_>) -> String {
        let at = event.get("index").and_then(|index| index.value().as_u64()).unwrap_or_default();
        match event.text_at("type").unwrap_or_default().as_str() {
            "content_block_start" => {
                let value = event.get("content_block").map(RawJson::value).unwrap_or_default();
                let text = value["text"].as_str().filter(|_| value["type"] == "text").unwrap_or_default().to_owned();
                self.blocks.insert(at, AnthropicBlock { value, ..AnthropicBlock::default() });
                return text;
            }
            "content_block_delta" => {
                let delta = event.get("delta");
                return delta.map(|delta| self.blocks.entry(at).or_default().append_delta(delta)).unwrap_or_default();
            }
            "content_block_stop" => self.blocks.entry(at).or_default().is_stopped = true,
            "message_stop" => self.is_complete = true,
            _ => {}
        }
        String::new()
    }

    fn response(&self) -> PartialResponse {
        let calls = self.blocks.values().filter(|block| block.value["type"] == "tool_use");
        let content: Vec<Value> = self.blocks.values().map(AnthropicBlock::to_value).collect();
        PartialResponse {
            calls: calls.map(|block| block.call().parse("the tool name is missing")).collect(),
            turn: vec![json!({"role": "assistant", "content": content})],
            is_complete: self.is_complete,
        }
    }
}

impl AnthropicBlock {
    /// Adds a delta and returns the text in it.
    fn append_delta(&mut self, delta: RawJson<'_>) -> String {
        let text = |key| delta.text_at(key).unwrap_or_default();
        match text("type").as_str() {
            "text_delta" => {
                append(&mut self.value, "text", &text("text"));
                return text("text");
            }
            "input_json_delta" => self.input.push_str(&text("partial_json")),
            "thinking_delta" => append(&mut self.value, "thinking", &text("thinking")),
            "signature_delta" => append(&mut self.value, "signature", &text("signature")),
            "citations_delta" => {
                let citation = delta.get("citation").map(RawJson::value).unwrap_or_default();
                match &mut self.value["citations"] {
                    Value::Array(known) => known.push(citation),
                    none => *none = json!([citation]),
                }
            }
            _ => {}
        }
        String::new()
    }

    fn call(&self) -> PartialCall {
        let text = |key: &str| self.value[key].as_str().map(str::to_owned);
        // Arguments that are not streamed are in the start event.
        let whole = self.value["input"].as_object().filter(|input| !input.is_empty() && self.input.is_empty());
        let arguments = whole.map_or_else(|| self.input.clone(), |_| self.value["input"].to_string());
        PartialCall { id: text("id").unwrap_or_default(), name: text("name"), arguments, is_ended: self.is_stopped }
    }

    fn to_value(&self) -> Value {
        let mut value = self.value.clone();
        if !self.input.is_empty() {
            value["input"] = self.call().input();
        }
        value
    }
}
