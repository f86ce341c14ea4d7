//! JSON output that does not depend on the features of `serde_json`.
//!
//! Any crate of a program may enable `serde_json/preserve_order`, so keys are always sorted here.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

/// A value that serializes with the keys of every object sorted.
///
/// ```
/// let value = serde_json::json!({"b": 1, "a": 2});
/// assert_eq!(tool_model::to_pretty(&tool_model::Sorted(&value)), "{\n  \"a\": 2,\n  \"b\": 1\n}\n");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sorted<'a>(pub &'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(&Sorted(item))?;
                }
                seq.end()
            }
            Value::Object(object) => {
                let mut entries: Vec<_> = object.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, &Sorted(value))?;
                }
                map.end()
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

/// Returns a value as compact JSON with sorted keys: equal values give equal text.
///
/// ```
/// let value = serde_json::json!({"b": 1, "a": {"d": [], "c": null}});
/// assert_eq!(tool_model::canonical(&value), r#"{"a":{"c":null,"d":[]},"b":1}"#);
/// ```
#[must_use]
pub fn canonical(value: &Value) -> String {
    infallible(serde_json::to_string(&Sorted(value)))
}

/// Returns a value as JSON with two spaces of indentation and a final newline, the format of `tools_calls.json`.
#[must_use]
pub fn to_pretty(value: &impl Serialize) -> String {
    let mut text = infallible(serde_json::to_string_pretty(value));
    text.push('\n');
    text
}

/// Serializing to memory only fails for maps with non-string keys, which do not occur here.
fn infallible(text: serde_json::Result<String>) -> String {
    text.unwrap_or_else(|error| unreachable!("JSON written to memory: {error}"))
}
