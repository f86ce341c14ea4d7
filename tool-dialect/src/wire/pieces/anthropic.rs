//! Events of Messages: blocks that are started, grow and are stopped.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::raw::Raw;
use super::{Call, Pieces, Whole, append};

#[derive(Default)]
pub(super) struct Blocks {
    blocks: BTreeMap<u64, Block>,
    is_complete: bool,
}

#[derive(Default)]
struct Block {
    value: Value,
    /// The text of the arguments, for a call of ours or of the provider.
    input: String,
    is_stopped: bool,
}

impl Pieces for Blocks {
    fn push(&mut self, event: Raw<'_>) -> String {
        let at = event.get("index").and_then(|index| index.value().as_u64()).unwrap_or_default();
        match event.text_at("type").unwrap_or_default().as_str() {
            "content_block_start" => {
                let value = event.get("content_block").map(Raw::value).unwrap_or_default();
                let text = value["text"].as_str().filter(|_| value["type"] == "text").unwrap_or_default().to_owned();
                self.blocks.insert(at, Block { value, ..Block::default() });
                return text;
            }
            "content_block_delta" => {
                let delta = event.get("delta");
                return delta.map(|delta| self.blocks.entry(at).or_default().grow(delta)).unwrap_or_default();
            }
            "content_block_stop" => self.blocks.entry(at).or_default().is_stopped = true,
            "message_stop" => self.is_complete = true,
            _ => {}
        }
        String::new()
    }

    fn whole(&self) -> Whole {
        let calls = self.blocks.values().filter(|block| block.value["type"] == "tool_use");
        let content: Vec<Value> = self.blocks.values().map(Block::written).collect();
        Whole {
            calls: calls.map(|block| block.call().found("it names no tool")).collect(),
            turn: vec![json!({"role": "assistant", "content": content})],
            is_complete: self.is_complete,
        }
    }
}

impl Block {
    /// Adds a piece and gives the text in it.
    fn grow(&mut self, delta: Raw<'_>) -> String {
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
                let citation = delta.get("citation").map(Raw::value).unwrap_or_default();
                match &mut self.value["citations"] {
                    Value::Array(known) => known.push(citation),
                    none => *none = json!([citation]),
                }
            }
            _ => {}
        }
        String::new()
    }

    fn call(&self) -> Call {
        let text = |key: &str| self.value[key].as_str().map(str::to_owned);
        // Arguments that do not come in pieces are there from the start.
        let whole = self.value["input"].as_object().filter(|input| !input.is_empty() && self.input.is_empty());
        let arguments = whole.map_or_else(|| self.input.clone(), |_| self.value["input"].to_string());
        Call { id: text("id").unwrap_or_default(), name: text("name"), arguments, is_ended: self.is_stopped }
    }

    fn written(&self) -> Value {
        let mut value = self.value.clone();
        if !self.input.is_empty() {
            value["input"] = self.call().input();
        }
        value
    }
}
