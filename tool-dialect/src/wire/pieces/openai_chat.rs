//! Chunks of Chat Completions: a `delta` each, with the calls by their index.

use serde_json::{Map, Value, json};

use super::super::raw::Raw;
use super::super::{Found, openai_chat};
use super::{Call, Pieces, Whole, append};

/// The first choice; others are alternatives to it.
#[derive(Default)]
pub(super) struct Chat {
    message: Map<String, Value>,
    calls: Vec<Indexed>,
    is_complete: bool,
}

#[derive(Default)]
struct Indexed {
    index: Option<u64>,
    call: Call,
    /// Another kind of call than that of a function.
    other: Option<Value>,
    /// What servers say of a call besides, such as the signature of a thought: they want it back.
    more: Map<String, Value>,
}

impl Pieces for Chat {
    fn push(&mut self, event: Raw<'_>) -> String {
        let choice = event.get("choices").and_then(Raw::items).and_then(|choices| choices.first().copied());
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

    fn whole(&self) -> Whole {
        let mut message = self.message.clone();
        message.entry("role").or_insert_with(|| "assistant".into());
        message.entry("content").or_insert(Value::Null);
        if !self.calls.is_empty() {
            message.insert("tool_calls".to_owned(), self.calls.iter().map(|one| self.written(one)).collect());
        }
        let calls = self.calls.iter().map(|one| self.found(one)).collect();
        Whole { calls, turn: vec![Value::Object(message)], is_complete: self.is_complete }
    }
}

impl Chat {
    /// Texts grow, and so do lists; anything else is said anew. Servers add keys of their own, such as `reasoning`.
    fn add(&mut self, key: String, value: Value) {
        match (self.message.get_mut(&key), value) {
            (Some(Value::String(known)), Value::String(more)) if key != "role" => known.push_str(&more),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (_, value) => {
                self.message.insert(key, value);
            }
        }
    }

    fn call(&mut self, delta: Raw<'_>) {
        let index = delta.get("index").and_then(|index| index.value().as_u64());
        let id = delta.text_at("id").filter(|id| !id.is_empty());
        let function = delta.get("function");
        let name = function.and_then(|function| function.text_at("name")).filter(|name| !name.is_empty());
        // Some servers give every call the same index, or none: a new id with a name starts another call. Others
        // generate a new id for each delta of one call: without a name, the index alone decides.
        let has_id = |one: &Indexed| one.index == index && id.as_ref().is_some_and(|id| one.call.id == *id);
        let may_be = |one: &Indexed| one.index == index && (name.is_none() || id.is_none() || one.call.id.is_empty());
        let known = self.calls.iter().rposition(has_id).or_else(|| self.calls.iter().rposition(may_be));
        let at = known.unwrap_or_else(|| {
            self.calls.push(Indexed { index, ..Indexed::default() });
            self.calls.len() - 1
        });
        let Indexed { call, other, more, .. } = &mut self.calls[at];
        let besides =
            delta.fields().unwrap_or_default().into_iter().filter(|(key, value)| is_besides(key) && !value.is_null());
        more.extend(besides.map(|(key, value)| (key, value.value())));
        if let Some(id) = id.filter(|_| call.id.is_empty()) {
            call.id = id;
        }
        let Some(function) = function else {
            // Of a call that is not a function's, the first delta has everything. One with an id alone says nothing.
            if call.name.is_none() && delta.fields().is_some_and(|fields| fields.keys().any(|key| is_besides(key))) {
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

    /// A response that has ended is like a whole one: what its calls say is for the tool to read. Before that, the
    /// last call may have more to say.
    fn ended(&self, one: &Indexed) -> Call {
        Call { is_ended: self.is_complete, ..one.call.clone() }
    }

    fn found(&self, one: &Indexed) -> Found {
        match &one.other {
            Some(other) => openai_chat::call_in(&other.to_string()),
            None if self.is_complete => openai_chat::call_in(&self.written(one).to_string()),
            None => self.ended(one).found("it names no function"),
        }
    }

    fn written(&self, one: &Indexed) -> Value {
        if let Some(other) = &one.other {
            return other.clone();
        }
        let is_cut = !self.is_complete && self.ended(one).is_cut();
        let arguments = if is_cut { "{}" } else { &one.call.arguments };
        let mut call = json!({"id": one.call.id, "type": "function", "function": {"arguments": arguments}});
        if let Some(name) = &one.call.name {
            append(&mut call["function"], "name", name);
        }
        for (key, value) in &one.more {
            call[key.as_str()] = value.clone();
        }
        call
    }
}

/// Returns `true` if a finish reason ends the answer. Some servers send an empty one, or the text `null`, with every
/// chunk.
fn is_final(reason: &str) -> bool {
    !matches!(reason, "" | "null")
}

/// Whether a key of a call is none that the protocol knows.
fn is_besides(key: &str) -> bool {
    !matches!(key, "index" | "id" | "type" | "function")
}
