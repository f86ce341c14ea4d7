//! Where in a JSON text an error is: from line and column to a path.

/// The byte offset of a line and column, both from one, as `serde_json` counts them.
pub(super) fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

/// The path of the value that an error at a line and column is about: `.items[2].sku`. The text is valid JSON.
///
/// `serde_json` reports what a type has against a value where it stopped reading: behind the value, and behind a comma
/// that follows.
pub(super) fn path_of_error(text: &str, line: usize, column: usize) -> String {
    let mut end = (offset(text, line, column) + 1).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    path(text, text[..end].trim_end_matches([' ', '\n', '\t', '\r', ',']).len())
}

/// The path of the value that stands at an offset of a JSON text.
fn path(text: &str, offset: usize) -> String {
    let mut levels: Vec<Level> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len().min(offset) {
        match bytes[at] {
            b'{' => levels.push(Level::Object { key: None, expects_key: true }),
            b'[' => levels.push(Level::Array(0)),
            b'}' | b']' => {
                levels.pop();
            }
            b',' => match levels.last_mut() {
                Some(Level::Array(index)) => *index += 1,
                Some(Level::Object { key, expects_key }) => {
                    *key = None;
                    *expects_key = true;
                }
                None => {}
            },
            b'"' => {
                let end = string_end(bytes, at);
                if let Some(Level::Object { key, expects_key: expects_key @ true }) = levels.last_mut() {
                    *key = serde_json::from_str(text.get(at..end).unwrap_or_default()).ok();
                    *expects_key = false;
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    levels.iter().map(Level::show).collect()
}

/// The offset behind a string that starts at `at`.
pub(super) fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut escaped = false;
    for (index, &byte) in bytes.iter().enumerate().skip(at + 1) {
        if escaped {
            escaped = false;
        } else if byte == b'"' {
            return index + 1;
        } else {
            escaped = byte == b'\\';
        }
    }
    bytes.len()
}

enum Level {
    Object { key: Option<String>, expects_key: bool },
    Array(usize),
}

impl Level {
    fn show(&self) -> String {
        match self {
            Self::Array(index) => format!("[{index}]"),
            Self::Object { key: None, .. } => String::new(),
            Self::Object { key: Some(key), .. } => {
                let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
                if plain { format!(".{key}") } else { format!("[{key:?}]") }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_text_has_a_path() {
        let text = r#"{"order": {"a,b": 1, "items": [{"sku": "x"}, {"sku": 5}]}}"#;
        assert_eq!(path(text, text.find('5').unwrap()), ".order.items[1].sku");
        assert_eq!(path(text, text.find('1').unwrap()), ".order[\"a,b\"]");
        assert_eq!(path("5", 0), "");
    }
}
