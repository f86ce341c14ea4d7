//! Where in a JSON text an error is: from line and column to a path.

/// The byte offset of a line and column, both from one, as `serde_json` counts them.
pub(super) fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

/// The steps to the value that an error at a line and column is about: `.items`, `[2]`, `.sku`. The text is valid JSON.
///
/// `serde_json` reports what a type has against a value where it stopped reading: behind the value, and behind a comma
/// that follows.
pub(super) fn path_of_error(text: &str, line: usize, column: usize) -> Vec<String> {
    let mut end = (offset(text, line, column) + 1).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    path(text, text[..end].trim_end_matches([' ', '\n', '\t', '\r', ',']).len())
}

/// Returns the number in which a type stopped reading at an offset: one with a fraction or an exponent, of which the type
/// took the digits before only. 128-bit integers are read so.
pub(super) fn unfinished_number(text: &str, offset: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    // `serde_json` gives the byte that it stopped at, or the one before.
    let stop = (offset..offset + 2).find(|at| matches!(bytes.get(*at), Some(b'.' | b'e' | b'E')))?;
    number_at(text, stop)
}

/// Returns the number that stands at an offset of a JSON text.
pub(super) fn number_at(text: &str, offset: usize) -> Option<&str> {
    let (before, behind) = text.as_bytes().split_at_checked(offset)?;
    let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let start = offset - before.iter().rev().take_while(is_part).count();
    let end = offset + behind.iter().take_while(is_part).count();
    text.get(start..end).filter(|number| number.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
}

/// The steps to the value that stands at an offset of a JSON text.
fn path(text: &str, offset: usize) -> Vec<String> {
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
                // As the validator writes it.
                let is_plain = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
                    && key.chars().all(|c| c.is_alphanumeric() || c == '_');
                if is_plain { format!(".{key}") } else { format!("[{}]", serde_json::Value::from(key.as_str())) }
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
        assert_eq!(path(text, text.find('5').unwrap()).concat(), ".order.items[1].sku");
        assert_eq!(path(text, text.find('1').unwrap()).concat(), ".order[\"a,b\"]");
        assert_eq!(path("5", 0).concat(), "");
    }

    #[test]
    fn a_number_that_was_not_read_to_its_end_is_found() {
        for (text, stop, number) in [
            ("[2.0]", 2, Some("2.0")),
            ("[2.0]", 1, Some("2.0")),
            ("-15e+3", 2, Some("-15e+3")),
            ("[2]", 1, None),
            (r#"{"a": 1, "e": 2}"#, 9, None),
            ("", 0, None),
        ] {
            assert_eq!(unfinished_number(text, stop), number, "{text} at {stop}");
        }
    }
}
