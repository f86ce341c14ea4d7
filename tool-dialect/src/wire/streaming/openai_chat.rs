//! OpenAI Chat Completions chunks: one `delta` each, with calls identified by index.

use serde_json::{Map, Value, json};

use super::super::raw::RawJson;
use super::super::{ParsedCall, openai_chat};
use super::{PartialCall, PartialResponse, ProviderStream, append};

/// The first choice; the others are alternatives and are ignored.
#[derive(Default)]
pub(super) struct ChatStream {
    message: Map<String, Value>,
    calls: Vec<ChatCall>,
    is_complete: bool,
}

#[derive(Default)]
struct ChatCall {
    index: Option<u64>,
    call: PartialCall,
    /// A call that is not a function call.
    other: Option<Value>,
    /// Extra fields of a call, such as a thought signature, which some servers require back.
    extra: Map<String, Value>,
}

impl ProviderStream for ChatStream {
    fn push(&mut self, event: RawJson<'_>) -> String {
        let choice = event.get("choices").and_then(RawJson::items).and_then(|choices| choices.first().copied());
        let Some(choice) = choice else { return String::new() };
        self.is_complete |= choice.text_at("finish_reason").is_some_and(|reason| is_final(&reason));
        // Some servers stream a whole message in a single chunk. A message after deltas would repeat them.
        let is_first = self.message.keys().all(|key| key == "role") && self.calls.is_empty();
        let message = || choice.get("message").filter(|_| is_first);
        let Some(delta) = choice.get("delta").or_else(message) else { return String::new() };
        for (key, value) in delta.fields().unwrap_or_default() {
            if key == "tool_calls" {
                value.items().unwrap_or_default().into_iter().for_each(|call| self.call(call));
            } else if !value.is_null() {
                self.add(key, value.value());
            }
        }
        delta.text_at("content").unwrap_or_default()
    }

    fn response(&self) -> PartialResponse {
        let mut message = self.message.clone();
        message.entry("role").or_insert_with(|| "assistant".into());
        message.entry("content").or_insert(Value::Null);
        if !self.calls.is_empty() {
            message.insert("tool_calls".to_owned(), self.calls.iter().map(|one| self.to_value(one)).collect());
        }
        let calls = self.calls.iter().map(|one| self.parse(one)).collect();
        PartialResponse { calls, turn: vec![Value::Object(message)], is_complete: self.is_complete }
    }
}

impl ChatStream {
    /// Appends to strings and arrays; other values replace the old one. Some servers add their own keys, such as
    /// `reasoning`.
    fn add(&mut self, key: String, value: Value) {
        match (self.message.get_mut(&key), value) {
            (Some(Value::String(known)), Value::String(more)) if key != "role" => known.push_str(&more),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (_, value) => {
                self.message.insert(key, value);
            }
        }
    }

    fn call(&mut self, delta: RawJson<'_>) {
        let index = delta.get("index").and_then(|index| index.value().as_u64());
        let id = delta.text_at("id").filter(|id| !id.is_empty());
        let function = delta.get("function");
        let name = function.and_then(|function| function.text_at("name")).filter(|name| !name.is_empty());
        // Some servers give every call the same index, or none: a new id with a name starts another call. Others
        // generate a new id for each delta of one call: without a name, the index alone decides.
        let has_id = |one: &ChatCall| one.index == index && id.as_ref().is_some_and(|id| one.call.id == *id);
        let may_be = |one: &ChatCall| one.index == index && (name.is_none() || id.is_none() || one.call.id.is_empty());
        let known = self.calls.iter().rposition(has_id).or_else(|| self.calls.iter().rposition(may_be));
        let at = known.unwrap_or_else(|| {
            self.calls.push(ChatCall { index, ..ChatCall::default() });
            self.calls.len() - 1
        });
        let ChatCall { call, other, extra, .. } = &mut self.calls[at];
        let unknown =
            delta.fields().unwrap_or_default().into_iter().filter(|(key, value)| is_extra_key(key) && !value.is_null());
        extra.extend(unknown.map(|(key, value)| (key, value.value())));
        if let Some(id) = id.filter(|_| call.id.is_empty()) {
            call.id = id;
        }
        let Some(function) = function else {
            // Other kinds of calls arrive complete in their first delta. A delta with only an id is ignored.
            if call.name.is_none() && delta.fields().is_some_and(|fields| fields.keys().any(|key| is_extra_key(key))) {
                *other = other.take().or_else(|| Some(delta.value()));
            }
            return;
        };
        // Some servers repeat the name in every delta.
        call.name = call.name.take().or(name);
        match function.get("arguments") {
            Some(text) if text.is_string() => call.arguments.push_str(&text.text().unwrap_or_default()),
            Some(value) => call.arguments.push_str(value.json()),
            None => {}
        }
    }

    /// Marks the call as complete if the response is complete. Until then the last call may still grow.
    fn ended(&self, one: &ChatCall) -> PartialCall {
        PartialCall { is_ended: self.is_complete, ..one.call.clone() }
    }

    fn parse(&self, one: &ChatCall) -> ParsedCall {
        match &one.other {
            Some(other) => openai_chat::call_in(&other.to_string()),
            None if self.is_complete => openai_chat::call_in(&self.to_value(one).to_string()),
            None => self.ended(one).parse("the function name is missing"),
        }
    }

    fn to_value(&self, one: &ChatCall) -> Value {
        if let Some(other) = &one.other {
            return other.clone();
        }
        let is_truncated = !self.is_complete && self.ended(one).is_truncated();
        let arguments = if is_truncated { "{}" } else { &one.call.arguments };
        let mut call = json!({"id": one.call.id, "type": "function", "function": {"arguments": arguments}});
        if let Some(name) = &one.call.name {
            append(&mut call["function"], "name", name);
        }
        for (key, value) in &one.extra {
            call[key.as_str()] = value.clone();
        }
        call
    }
}

/// Returns `true` if a finish reason ends the response. Some servers send an empty string or `null` as text with every
/// chunk.
fn is_final(reason: &str) -> bool {
    !matches!(reason, "" | "null")
}

/// Returns `true` if the protocol does not define this key of a call.
fn is_extra_key(key: &str) -> bool {
    !matches!(key, "index" | "id" | "type" | "function")
}
