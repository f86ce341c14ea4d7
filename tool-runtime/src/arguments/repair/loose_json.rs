//! A parser for the almost-JSON that models write.
//!
//! Its extensions are unambiguous: trailing commas; unquoted names that are identifiers; single quotes around a string
//! without backslashes; Python's `True`, `False` and `None`; control characters inside a string. Truncated text is not
//! completed, an unquoted word is not a string, and duplicate keys are rejected: each would be a guess.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde::de::IgnoredAny;

use super::super::location::string_end;
use super::json_node::JsonNode;

/// The depth of nesting, as in `serde_json`.
const DEEPEST: usize = 127;

/// Parses a text. The flag is `true` if it was not strict JSON.
pub(super) fn parse(text: &str) -> Option<(JsonNode, bool)> {
    let mut reading = LooseReader { text, at: 0, depth: 0, is_loose: false };
    reading.next_byte()?;
    let node = reading.value()?;
    match reading.next_byte() {
        None => Some((node, reading.is_loose)),
        Some(_) => None,
    }
}

/// The parser's state. Its methods return `None` for text that cannot be parsed.
struct LooseReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    is_loose: bool,
}

impl<'a> LooseReader<'a> {
    fn value(&mut self) -> Option<JsonNode> {
        match self.next_byte()? {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'"' | b'\'' => self.quoted().map(JsonNode::Text),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Option<JsonNode>) -> Option<JsonNode> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        self.at += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn object(&mut self) -> Option<JsonNode> {
        let mut fields = Vec::new();
        let mut keys = HashSet::new();
        while !self.is_over(b'}', fields.is_empty())? {
            let key = self.key()?;
            if !keys.insert(key.clone()) || self.next_byte()? != b':' {
                return None;
            }
            self.at += 1;
            fields.push((key, self.value()?));
        }
        Some(JsonNode::Object(fields))
    }

    fn array(&mut self) -> Option<JsonNode> {
        let mut items = Vec::new();
        while !self.is_over(b']', items.is_empty())? {
            items.push(self.value()?);
        }
        Some(JsonNode::Array(items))
    }

    /// Skips the closing bracket and returns `true`, or skips the comma before the next element.
    fn is_over(&mut self, close: u8, is_first: bool) -> Option<bool> {
        let mut next = self.next_byte()?;
        if !is_first && next == b',' {
            self.at += 1;
            next = self.next_byte()?;
            self.is_loose |= next == close;
        } else if !is_first && next != close {
            return None;
        }
        if next == close {
            self.at += 1;
        }
        Some(next == close)
    }

    fn key(&mut self) -> Option<String> {
        if matches!(self.next_byte()?, b'"' | b'\'') {
            let raw = self.quoted()?;
            return serde_json::from_str(&raw).ok();
        }
        let word = self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        self.is_loose = true;
        (!word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit())).then(|| word.to_owned())
    }

    /// Parses a string in quotes of either kind and returns it as JSON.
    fn quoted(&mut self) -> Option<String> {
        let rest = &self.text[self.at..];
        if let Some(rest) = rest.strip_prefix('\'') {
            let said = &rest[..rest.find('\'')?];
            self.at += said.len() + 2;
            self.is_loose = true;
            let JsonNode::Text(raw) = JsonNode::text(said) else { return None };
            return (!said.contains('\\')).then_some(raw);
        }
        let end = string_end(self.text.as_bytes(), self.at);
        let raw = self.text.get(self.at..end)?;
        self.at = end;
        let is_text = |raw: &str| serde_json::from_str::<String>(raw).is_ok();
        if is_text(raw) {
            return Some(raw.to_owned());
        }
        self.is_loose = true;
        Some(escaped(raw)).filter(|escaped| is_text(escaped))
    }

    fn number(&mut self) -> Option<JsonNode> {
        let raw = self.take(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
        is_number(raw).then(|| JsonNode::Number(raw.to_owned()))
    }

    fn word(&mut self) -> Option<JsonNode> {
        let word = self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        self.is_loose |= matches!(word, "True" | "False" | "None");
        match word {
            "true" | "True" => Some(JsonNode::Bool(true)),
            "false" | "False" => Some(JsonNode::Bool(false)),
            "null" | "None" => Some(JsonNode::Null),
            _ => None,
        }
    }

    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|&byte| belongs(byte)).count();
        self.at += length;
        &rest[..length]
    }

    /// Skips white space and returns the byte behind it.
    fn next_byte(&mut self) -> Option<u8> {
        self.take(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r'));
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Returns `true` if a text is a JSON number.
pub(super) fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Escapes the control characters of a string.
fn escaped(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len() + 8);
    for c in raw.chars() {
        match c {
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            '\r' => escaped.push_str("\\r"),
            '\0'..='\u{1f}' => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}
