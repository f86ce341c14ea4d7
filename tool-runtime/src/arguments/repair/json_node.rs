//! JSON values that keep the text of their numbers and strings.

use std::borrow::Cow;

use serde_json::Value;

use super::convert::whole;

/// A JSON value. Numbers and strings keep their text, since parsing could change them; keys keep their order and are
/// unique.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JsonNode {
    Null,
    Bool(bool),
    /// The text of the number.
    Number(String),
    /// The string with its quotes and escapes.
    Text(String),
    Array(Vec<JsonNode>),
    Object(Vec<(String, JsonNode)>),
}

impl JsonNode {
    /// Creates a string from its content.
    pub(super) fn text(said: &str) -> Self {
        Self::Text(Value::from(said).to_string())
    }

    /// Returns the content of a string.
    pub(super) fn said(&self) -> Option<Cow<'_, str>> {
        let Self::Text(raw) = self else { return None };
        let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
        if inside.contains('\\') { serde_json::from_str(raw).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inside)) }
    }

    /// Returns the number of values in it. A long string counts as several.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Self::Object(fields) => 1 + fields.iter().map(|(_, field)| field.size()).sum::<usize>(),
            Self::Number(raw) | Self::Text(raw) => 1 + raw.len() / 16,
            Self::Null | Self::Bool(_) => 1,
        }
    }

    /// Returns `true` if any number in it has a fraction or an exponent.
    pub(super) fn has_decimal(&self) -> bool {
        match self {
            Self::Number(raw) => raw.contains(['.', 'e', 'E']),
            Self::Array(items) => items.iter().any(Self::has_decimal),
            Self::Object(fields) => fields.iter().any(|(_, field)| field.has_decimal()),
            Self::Null | Self::Bool(_) | Self::Text(_) => false,
        }
    }

    /// Returns a text that equal values share, and no others: exact for numbers of any size, unlike `Value`.
    pub(super) fn canonical(&self) -> String {
        match self {
            Self::Number(raw) => whole(raw).unwrap_or_else(|| raw.clone()),
            Self::Text(raw) => self.said().map_or_else(|| raw.clone(), |said| Value::from(said).to_string()),
            Self::Array(items) => format!("[{}]", items.iter().map(Self::canonical).collect::<Vec<_>>().join(",")),
            Self::Object(fields) => {
                let mut fields: Vec<String> = fields
                    .iter()
                    .map(|(key, field)| format!("{}:{}", Value::from(&**key), field.canonical()))
                    .collect();
                fields.sort_unstable();
                format!("{{{}}}", fields.join(","))
            }
            Self::Null | Self::Bool(_) => self.to_string(),
        }
    }

    /// Parses the value for the validator.
    pub(super) fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.to_string()).ok()
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Self::Number(raw) | Self::Text(raw) => out.push_str(raw),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    separate(index, out);
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(fields) => write_fields(fields, out),
        }
    }
}

impl std::fmt::Display for JsonNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}

/// Writes an object as JSON.
pub(super) fn write_object(fields: &[(String, JsonNode)]) -> String {
    let mut text = String::new();
    write_fields(fields, &mut text);
    text
}

fn write_fields(fields: &[(String, JsonNode)], out: &mut String) {
    out.push('{');
    for (index, (key, field)) in fields.iter().enumerate() {
        separate(index, out);
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        field.write(out);
    }
    out.push('}');
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}
