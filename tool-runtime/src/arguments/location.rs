//! Locations in a JSON text: from line and column to an offset and to a path.

use tool_model::validate::PathStep;

/// Returns the byte offset of a line and column, both from 1, as `serde_json` counts them.
pub(super) fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

/// Returns the path to the value that an error at a line and column is about. The text is valid JSON.
///
/// `serde_json` reports the refusal of a value at the position where it stopped reading: behind the value and a comma
/// that follows it.
pub(super) fn path_of_error(text: &str, line: usize, column: usize) -> Vec<PathStep> {
    let mut end = (offset(text, line, column) + 1).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    path(text, text[..end].trim_end_matches([' ', '\n', '\t', '\r', ',']).len())
}

/// Returns the number in which a type stopped reading at an offset: 128-bit integers are read up to the point or
/// exponent.
pub(super) fn unfinished_number(text: &str, offset: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    // `serde_json` reports the byte that it stopped at, or the one before.
    let stop = (offset..offset + 2).find(|at| matches!(bytes.get(*at), Some(b'.' | b'e' | b'E')))?;
    number_at(text, stop)
}

/// Returns the number at an offset of a JSON text.
pub(super) fn number_at(text: &str, offset: usize) -> Option<&str> {
    let (before, behind) = text.as_bytes().split_at_checked(offset)?;
    let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let start = offset - before.iter().rev().take_while(is_part).count();
    let end = offset + behind.iter().take_while(is_part).count();
    text.get(start..end).filter(|number| number.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
}

/// Returns the path to the value at an offset of a JSON text.
fn path(text: &str, offset: usize) -> Vec<PathStep> {
    let mut levels: Vec<OpenLevel> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len().min(offset) {
        match bytes[at] {
            b'{' => levels.push(OpenLevel::Object { key: None, expects_key: true }),
            b'[' => levels.push(OpenLevel::Array(0)),
            b'}' | b']' => {
                levels.pop();
            }
            b',' => match levels.last_mut() {
                Some(OpenLevel::Array(index)) => *index += 1,
                Some(OpenLevel::Object { key, expects_key }) => {
                    *key = None;
                    *expects_key = true;
                }
                None => {}
            },
            b'"' => {
                let end = string_end(bytes, at);
                if let Some(OpenLevel::Object { key, expects_key: expects_key @ true }) = levels.last_mut() {
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
    levels.into_iter().filter_map(OpenLevel::into_step).collect()
}

/// Returns the offset behind the string that starts at `at`.
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

/// An open object or array.
enum OpenLevel {
    Object { key: Option<String>, expects_key: bool },
    Array(usize),
}

impl OpenLevel {
    fn into_step(self) -> Option<PathStep> {
        match self {
            Self::Array(index) => Some(PathStep::Item(index)),
            Self::Object { key, .. } => key.map(PathStep::Property),
        }
    }
}

#[cfg(test)]
mod tests {
    use tool_model::validate::ValuePath;

    use super::*;

    #[test]
    fn returns_the_path_of_an_offset() {
        let text = r#"{"order": {"a,b": 1, "items": [{"sku": "x"}, {"sku": 5}]}}"#;
        let shown = |text, offset| ValuePath { root: String::new(), steps: path(text, offset) }.to_string();
        assert_eq!(shown(text, text.find('5').unwrap()), "order.items[1].sku");
        assert_eq!(shown(text, text.find('1').unwrap()), "order[\"a,b\"]");
        assert_eq!(shown("5", 0), "");
    }

    #[test]
    fn finds_a_number_that_was_not_read_to_its_end() {
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
