//! JSON written by hand, key by key, without a tree in between.

use serde::Serialize;
use serde_json::Value;
use tool_model::canonical;

/// The text of a JSON document that is being written. Commas come of themselves.
#[derive(Default)]
pub(crate) struct Json(Vec<u8>);

impl Json {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// A key that needs no escapes; its value follows.
    pub(crate) fn key(&mut self, key: &'static str) {
        self.item();
        self.0.push(b'"');
        self.0.extend_from_slice(key.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    /// A key of any text; its value follows.
    pub(crate) fn name(&mut self, name: &str) {
        self.item();
        self.text(name);
        self.0.push(b':');
    }

    /// The next item of a list follows.
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

    /// What is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.0.extend_from_slice(json.as_bytes());
    }

    /// A value, with sorted keys whatever features of serde_json are on.
    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::Object(_) | Value::Array(_) => self.raw(&canonical(value)),
            scalar => self.serialize(scalar),
        }
    }

    pub(crate) fn serialize(&mut self, value: &(impl Serialize + ?Sized)) {
        // Writing what has string keys to memory does not fail.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    pub(crate) fn finish(self) -> String {
        String::from_utf8(self.0).unwrap_or_else(|error| unreachable!("JSON is UTF-8: {error}"))
    }
}
