//! OpenAI Responses events: output items that are added, grow and are done.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::raw::RawJson;
use super::super::{ParsedCall, openai_responses};
use super::{PartialCall, PartialResponse, ProviderStream, append};

#[derive(Default)]
pub(super) struct ResponsesStream {
    items: BTreeMap<u64, ResponsesItem>,
    is_complete: bool,
}

#[derive(Default)]
struct ResponsesItem {
    value: Value,
    is_done: bool,
}

impl ProviderStream for ResponsesStream {
    fn push(&mut self, event: RawJson<'_>) -> String {
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

    fn response(&self) -> PartialResponse {
        let calls = self.items.values().filter(|item| item.is("function_call")).map(ResponsesItem::parse);
        let turn = self.items.values().filter_map(ResponsesItem::to_value);
        PartialResponse { calls: calls.collect(), turn: turn.collect(), is_complete: self.is_complete }
    }
}

impl ResponsesStream {
    fn set(&mut self, at: u64, item: Option<RawJson<'_>>, is_done: bool) {
        if let Some(item) = item {
            self.items.insert(at, ResponsesItem { value: item.value(), is_done });
        }
    }

    fn text(&mut self, at: u64, delta: &str) {
        let message = &mut self.items.entry(at).or_default().value;
        if message["content"][0].is_null() {
            message["content"] = json!([{"type": "output_text", "annotations": []}]);
        }
        append(&mut message["content"][0], "text", delta);
    }

    /// Replaces all items by those of the final event, which repeats them.
    fn end(&mut self, response: Option<RawJson<'_>>) {
        self.is_complete = true;
        let output = response.and_then(|response| response.get("output")).and_then(RawJson::items).unwrap_or_default();
        if !output.is_empty() {
            let items = output.into_iter().map(|item| ResponsesItem { value: item.value(), is_done: true });
            self.items = (0..).zip(items).collect();
        }
    }
}

impl ResponsesItem {
    fn is(&self, kind: &str) -> bool {
        self.value["type"] == kind
    }

    fn parse(&self) -> ParsedCall {
        let text = |key: &str| self.value[key].as_str().map(str::to_owned);
        if self.is_done {
            return openai_responses::call_in(&self.value.to_string());
        }
        let id = text("call_id").or_else(|| text("id")).unwrap_or_default();
        let arguments = text("arguments").unwrap_or_default();
        PartialCall { id, name: text("name"), arguments, is_ended: false }.parse("the function name is missing")
    }

    /// Returns the item for the model's turn. Unfinished items are omitted, except text and calls.
    fn to_value(&self) -> Option<Value> {
        let mut value = self.value.clone();
        if !self.is_done && self.is("function_call") && self.parse().is_err() {
            value["arguments"] = "{}".into();
        }
        (self.is_done || self.is("function_call") || self.is("message")).then_some(value)
    }
}
