//! Events of Responses: items that are begun, grow and are done.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::raw::Raw;
use super::super::{Found, openai_responses};
use super::{Call, Pieces, Whole, append};

#[derive(Default)]
pub(super) struct Items {
    items: BTreeMap<u64, Item>,
    is_complete: bool,
}

#[derive(Default)]
struct Item {
    value: Value,
    is_done: bool,
}

impl Pieces for Items {
    fn push(&mut self, event: Raw<'_>) -> String {
        let at = event.get("output_index").and_then(|index| index.value().as_u64()).unwrap_or_default();
        let delta = event.text_at("delta").unwrap_or_default();
        match event.text_at("type").unwrap_or_default().as_str() {
            "response.output_item.added" => self.set(at, event.get("item"), false),
            "response.output_item.done" => self.set(at, event.get("item"), true),
            "response.function_call_arguments.delta" => {
                append(&mut self.items.entry(at).or_default().value, "arguments", &delta);
            }
            "response.function_call_arguments.done" => {
                let arguments = event.text_at("arguments").unwrap_or_default();
                self.items.entry(at).or_default().value["arguments"] = arguments.into();
            }
            "response.output_text.delta" => {
                self.text(at, &delta);
                return delta;
            }
            "response.completed" | "response.incomplete" => self.end(event.get("response")),
            _ => {}
        }
        String::new()
    }

    fn whole(&self) -> Whole {
        let calls = self.items.values().filter(|item| item.is("function_call")).map(Item::found);
        let turn = self.items.values().filter_map(Item::written);
        Whole { calls: calls.collect(), turn: turn.collect(), is_complete: self.is_complete }
    }
}

impl Items {
    fn set(&mut self, at: u64, item: Option<Raw<'_>>, is_done: bool) {
        if let Some(item) = item {
            self.items.insert(at, Item { value: item.value(), is_done });
        }
    }

    fn text(&mut self, at: u64, delta: &str) {
        let message = &mut self.items.entry(at).or_default().value;
        if message["content"][0].is_null() {
            message["content"] = json!([{"type": "output_text", "annotations": []}]);
        }
        append(&mut message["content"][0], "text", delta);
    }

    /// The last event has everything once more.
    fn end(&mut self, response: Option<Raw<'_>>) {
        self.is_complete = true;
        let output = response.and_then(|response| response.get("output")).and_then(Raw::items).unwrap_or_default();
        if !output.is_empty() {
            let items = output.into_iter().map(|item| Item { value: item.value(), is_done: true });
            self.items = (0..).zip(items).collect();
        }
    }
}

impl Item {
    fn is(&self, kind: &str) -> bool {
        self.value["type"] == kind
    }

    fn found(&self) -> Found {
        let text = |key: &str| self.value[key].as_str().map(str::to_owned);
        if self.is_done {
            return openai_responses::call_in(&self.value.to_string());
        }
        let id = text("call_id").or_else(|| text("id")).unwrap_or_default();
        let arguments = text("arguments").unwrap_or_default();
        Call { id, name: text("name"), arguments, is_ended: false }.found("it names no function")
    }

    /// What is begun and not done is no item yet, but for text and calls.
    fn written(&self) -> Option<Value> {
        let mut value = self.value.clone();
        if !self.is_done && self.is("function_call") && self.found().is_err() {
            value["arguments"] = "{}".into();
        }
        (self.is_done || self.is("function_call") || self.is("message")).then_some(value)
    }
}
