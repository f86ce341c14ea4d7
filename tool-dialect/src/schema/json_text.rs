//! A JSON writer that works without an intermediate tree.

use serde::Serialize;
use serde_json::Value;
use tool_model::canonical;

/// A JSON text under construction. Commas are added automatically.
#[derive(Default)]
pub(crate) struct JsonText(Vec<u8>);

impl JsonText {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Writes a key that needs no escaping. Its value must follow.
    pub(crate) fn key(&mut self, key: &'static str) {
        self.item();
        self.0.push(b'"');
        self.0.extend_from_slice(key.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    /// Writes an arbitrary key. Its value must follow.
    pub(crate) fn name(&mut self, name: &str) {
        self.item();
        self.text(name);
        self.0.push(b':');
    }

    /// Starts the next item of an array.
    pub(crate) fn item(&mut self) {
        if !matches!(self.0.last(), None | Some(b'{' | b'[' | b':')) {
            self.0.push(b',');
        }
    }

    pub(crate) fn open(&mut self, bracket: u8) {
        self.0.push(bracket);
    }

    pub(crate) fn close(&mut self, bracket: u8) {
        self.0.push(bracket);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.serialize(text);
    }

    /// Appends text that is already JSON.
    pub(crate) fn raw(&mut self, json: &str) {
        self.0.extend_from_slice(json.as_bytes());
    }

    /// Writes a value with sorted keys, regardless of serde_json's features.
    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::Object(_) | Value::Array(_) => self.raw(&canonical(value)),
            scalar => self.serialize(scalar),
        }
    }

    pub(crate) fn serialize(&mut self, value: &(impl Serialize + ?Sized)) {
        // Serializing values with string keys to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    pub(crate) fn finish(self) -> String {
        String::from_utf8(self.0).unwrap_or_else(|error| unreachable!("JSON is UTF-8: {error}"))
    }
}
