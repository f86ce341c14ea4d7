//! Bedrock ConverseStream events: each event is an object with its name as the key.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::raw::RawJson;
use super::{PartialCall, PartialResponse, ProviderStream, append};

#[derive(Default)]
pub(super) struct BedrockStream {
    blocks: BTreeMap<u64, BedrockBlock>,
    is_complete: bool,
}

enum BedrockBlock {
    Call(PartialCall),
    /// Text and reasoning, in the form in which they are sent back.
    Other(Value),
}

impl ProviderStream for BedrockStream {
    fn push(&mut self, event: RawJson<'_>) -> String {
        let index =
            |event: RawJson<'_>| event.get("contentBlockIndex").and_then(|at| at.value().as_u64()).unwrap_or_default();
        if let Some(start) = event.get("contentBlockStart") {
            if let Some(tool) = start.get("start").and_then(|start| start.get("toolUse")) {
                let id = tool.text_at("toolUseId").unwrap_or_default();
                let call = PartialCall { id, name: tool.text_at("name"), ..PartialCall::default() };
                self.blocks.insert(index(start), BedrockBlock::Call(call));
            }
        } else if let Some(piece) = event.get("contentBlockDelta") {
            let block = self.blocks.entry(index(piece)).or_insert_with(|| BedrockBlock::Other(json!({})));
            return piece.get("delta").map(|delta| block.append_delta(delta)).unwrap_or_default();
        } else if let Some(stop) = event.get("contentBlockStop") {
            if let Some(BedrockBlock::Call(call)) = self.blocks.get_mut(&index(stop)) {
                call.is_ended = true;
            }
        } else if event.get("messageStop").is_some() {
            self.is_complete = true;
        }
        String::new()
    }

    fn response(&self) -> PartialResponse {
        let calls = self.blocks.values().filter_map(|block| match block {
            BedrockBlock::Call(call) => Some(call.parse("the tool name is missing")),
            BedrockBlock::Other(_) => None,
        });
        let content: Vec<Value> = self.blocks.values().map(BedrockBlock::to_value).collect();
        PartialResponse {
            calls: calls.collect(),
            turn: vec![json!({"role": "assistant", "content": content})],
            is_complete: self.is_complete,
        }
    }
}

impl BedrockBlock {
    /// Adds a delta and returns the text in it.
    fn append_delta(&mut self, delta: RawJson<'_>) -> String {
        match self {
            Self::Call(call) => {
                let input = delta.get("toolUse").and_then(|tool| tool.text_at("input"));
                call.arguments.push_str(&input.unwrap_or_default());
            }
            Self::Other(value) => {
                if let Some(text) = delta.text_at("text") {
                    append(value, "text", &text);
                    return text;
                }
                for (key, part) in delta.get("reasoningContent").and_then(RawJson::fields).unwrap_or_default() {
                    let part = part.text().unwrap_or_default();
                    match key.as_str() {
                        "text" | "signature" => append(&mut value["reasoningContent"]["reasoningText"], &key, &part),
                        _ => append(&mut value["reasoningContent"], &key, &part),
                    }
                }
            }
        }
        String::new()
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Call(call) => {
                json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.input()}})
            }
            Self::Other(value) => value.clone(),
        }
    }
}
