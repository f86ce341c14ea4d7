//! JSON for display: sorted, indented and escaped.

use serde_json::Value;

use super::{fold, is_visible, thousands};

/// Formats a value as JSON with sorted keys and an indent of two spaces.
///
/// Invisible and control characters are escaped as JSON does it (`\u202e`), so the text parses to the same value.
///
/// ```
/// use serde_json::json;
/// use tool_runtime::display;
///
/// let text = display::json(&json!({"to": "\u{202e}evE", "cc": []}));
/// assert_eq!(text, "{\n  \"cc\": [],\n  \"to\": \"\\u202eevE\"\n}");
/// ```
#[must_use]
pub fn json(value: &Value) -> String {
    let mut writer = PrettyWriter { text: String::new(), limit: usize::MAX };
    writer.value(value, 0);
    writer.text
}

/// Like [`json`], but shortens each string to `limit` characters, followed by the number of characters left out.
pub(crate) fn json_folded(value: &Value, limit: usize) -> String {
    let mut writer = PrettyWriter { text: String::new(), limit };
    writer.value(value, 0);
    writer.text
}

struct PrettyWriter {
    text: String,
    limit: usize,
}

impl PrettyWriter {
    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) if !items.is_empty() => {
                self.list(['[', ']'], depth, items, |writer, item| writer.value(item, depth + 1));
            }
            Value::Object(object) if !object.is_empty() => {
                let mut entries: Vec<_> = object.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                self.list(['{', '}'], depth, entries, |writer, (key, value)| {
                    writer.string(key);
                    writer.text.push_str(": ");
                    writer.value(value, depth + 1);
                });
            }
            plain => self.text.push_str(&plain.to_string()),
        }
    }

    fn list<T>(
        &mut self,
        [open, close]: [char; 2],
        depth: usize,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.text.push(open);
        for (index, item) in items.into_iter().enumerate() {
            self.text.push_str(if index == 0 { "\n" } else { ",\n" });
            self.indent(depth + 1);
            write(self, item);
        }
        self.text.push('\n');
        self.indent(depth);
        self.text.push(close);
    }

    fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }

    fn string(&mut self, text: &str) {
        let (shown, more) = fold(text, self.limit);
        self.text.push('"');
        for c in shown.chars() {
            self.character(c);
        }
        self.text.push('"');
        if more > 0 {
            self.text.push_str(&format!(" … {} more characters", thousands(more)));
        }
    }

    fn character(&mut self, c: char) {
        match c {
            '"' => self.text.push_str("\\\""),
            '\\' => self.text.push_str("\\\\"),
            '\n' => self.text.push_str("\\n"),
            '\r' => self.text.push_str("\\r"),
            '\t' => self.text.push_str("\\t"),
            c if is_visible(c) => self.text.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    self.text.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parses_to_the_same_value() {
        let all: String = (char::MIN..'\u{3000}').collect();
        let value = json!({
            "b": [1, 2.5, -0.0, u64::MAX, true, null, "", [], {}],
            "a\u{202e}\n": {"nested": {"deep": ["x\\\"y", "\u{1b}[2J", "\u{e0041}"]}},
            "all": all,
        });
        let text = json(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(text.chars().all(|c| c == '\n' || is_visible(c)));
    }

    #[test]
    fn indents_like_serde_json() {
        let value = json!({"a": [1, {"b": []}], "c": {}, "d": "e"});
        assert_eq!(json(&value), serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn notes_folding_outside_the_quotes() {
        let value = json!({"text": "x".repeat(5000), "short": "yes"});
        let text = json_folded(&value, 688);
        assert!(text.contains("x\" … 4,312 more characters\n"), "{text}");
        assert!(text.contains("\"short\": \"yes\""));
        assert_eq!(json_folded(&json!("abcdef"), 2), r#""ab" … 4 more characters"#);
        // A string that contains the note itself is distinguishable.
        assert_eq!(json_folded(&json!("a\" … 4 more characters"), 100), "\"a\\\" … 4 more characters\"");
    }
}
