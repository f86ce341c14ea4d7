//! Events of ConverseStream: the name of an event is its key.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::raw::Raw;
use super::{Call, Pieces, Whole, append};

#[derive(Default)]
pub(super) struct Blocks {
    blocks: BTreeMap<u64, Block>,
    is_complete: bool,
}

enum Block {
    Call(Call),
    /// Text and thoughts, as they go back.
    Other(Value),
}

impl Pieces for Blocks {
    fn push(&mut self, event: Raw<'_>) -> String {
        let index =
            |event: Raw<'_>| event.get("contentBlockIndex").and_then(|at| at.value().as_u64()).unwrap_or_default();
        if let Some(start) = event.get("contentBlockStart") {
            if let Some(tool) = start.get("start").and_then(|start| start.get("toolUse")) {
                let id = tool.text_at("toolUseId").unwrap_or_default();
                let call = Call { id, name: tool.text_at("name"), ..Call::default() };
                self.blocks.insert(index(start), Block::Call(call));
            }
        } else if let Some(piece) = event.get("contentBlockDelta") {
            let block = self.blocks.entry(index(piece)).or_insert_with(|| Block::Other(json!({})));
            return piece.get("delta").map(|delta| block.grow(delta)).unwrap_or_default();
        } else if let Some(stop) = event.get("contentBlockStop") {
            if let Some(Block::Call(call)) = self.blocks.get_mut(&index(stop)) {
                call.is_ended = true;
            }
        } else if event.get("messageStop").is_some() {
            self.is_complete = true;
        }
        String::new()
    }

    fn whole(&self) -> Whole {
        let calls = self.blocks.values().filter_map(|block| match block {
            Block::Call(call) => Some(call.found("it names no tool")),
            Block::Other(_) => None,
        });
        let content: Vec<Value> = self.blocks.values().map(Block::written).collect();
        Whole {
            calls: calls.collect(),
            turn: vec![json!({"role": "assistant", "content": content})],
            is_complete: self.is_complete,
        }
    }
}

impl Block {
    /// Adds a piece and gives the text in it.
    fn grow(&mut self, delta: Raw<'_>) -> String {
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
                for (key, part) in delta.get("reasoningContent").and_then(Raw::fields).unwrap_or_default() {
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

    fn written(&self) -> Value {
        match self {
            Self::Call(call) => {
                json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.input()}})
            }
            Self::Other(value) => value.clone(),
        }
    }
}
