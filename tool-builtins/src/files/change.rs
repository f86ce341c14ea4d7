//! What a write changes: for the preview before it, and for the metadata after it.

use serde::{Serialize, Serializer};
use serde_json::json;
use tool_runtime::Effect;
use tool_runtime::inject::Notes;

use super::text::{Binary, Text, line_count};
use crate::count::counted;

/// The longest text that a result's metadata repeats.
const MOST_NOTED: usize = 256 * 1024;
/// The longest text that a preview shows, before and after each.
const MOST_SHOWN: usize = 64 * 1024;
/// Lines around a change in a text that is too long to be shown.
const CONTEXT: usize = 3;

/// One file before and after a write.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Change {
    pub(super) path: String,
    pub(super) before: Content,
    pub(super) after: Content,
    /// `true` if the file becomes executable, `false` if it stops being so, nothing if the mode stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) executable: Option<bool>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// There is no file.
    Nothing,
    Text(String),
    /// Something that is not shown.
    Other {
        kind: &'static str,
        bytes: u64,
    },
}

impl Content {
    /// The content of a file that exists.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        match Text::decode(bytes) {
            Ok(text) => Self::Text(text.text),
            Err(Binary(kind)) => Self::Other { kind, bytes: length },
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Text(text) => text.clone(),
            Self::Other { kind, bytes } => format!("({kind}, {})", counted(*bytes, "byte")),
        }
    }
}

/// `null`, the text, or what is known of it.
impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Text(text) if text.len() <= MOST_NOTED => serializer.serialize_str(text),
            Self::Text(text) => json!({"type": "text/plain", "bytes": text.len()}).serialize(serializer),
            Self::Other { kind, bytes } => json!({"type": kind, "bytes": bytes}).serialize(serializer),
        }
    }
}

impl Change {
    pub(super) fn new(path: &str, before: Content, after: Content) -> Self {
        Self { path: path.to_owned(), before, after, executable: None }
    }

    /// What the call would do, as an interface shows it.
    pub(super) fn effect(&self) -> Effect {
        if self.executable.is_some() {
            return Effect::Text(self.unified());
        }
        let (before, after) = shortened(self.before.shown(), self.after.shown());
        Effect::Diff { path: Some(self.path.clone()), before, after }
    }

    /// The change as a unified diff.
    pub(super) fn unified(&self) -> String {
        let name = |content: &Content, side| match content {
            Content::Nothing => "/dev/null".to_owned(),
            _ => format!("{side}/{}", self.path),
        };
        let (before, after) = shortened(self.before.shown(), self.after.shown());
        let diff = similar::TextDiff::from_lines(&before, &after);
        let (old, new) = (name(&self.before, "a"), name(&self.after, "b"));
        let diff = diff.unified_diff().header(&old, &new).to_string();
        match self.executable {
            None => diff,
            Some(true) => format!("{} becomes executable.\n{diff}", self.path),
            Some(false) => format!("{} is no longer executable.\n{diff}", self.path),
        }
    }
}

/// Tells the interface what was changed.
pub(super) fn note(notes: &Notes, changes: &[Change]) {
    notes.insert("changes", changes);
}

/// Both texts, or only where they differ if they are long.
fn shortened(before: String, after: String) -> (String, String) {
    if before.len().max(after.len()) <= MOST_SHOWN {
        return (before, after);
    }
    let (start, end) = (common_start(&before, &after), common_end(&before, &after));
    let part = |text: &str| {
        let end = text.len() - end.min(text.len() - start);
        let (head, middle, tail) = (&text[..start], &text[start..end], &text[end..]);
        let (above, kept) = head.split_at(head.len() - last_lines(head));
        let (kept_below, below) = tail.split_at(first_lines(tail));
        format!("{}{kept}{}{kept_below}{}", left_out(above), folded(middle), left_out(below))
    };
    (part(&before), part(&after))
}

/// How many bytes of whole lines both texts begin with.
fn common_start(before: &str, after: &str) -> usize {
    let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    memchr::memrchr(b'\n', &before.as_bytes()[..same]).map_or(0, |end| end + 1)
}

/// How many bytes of whole lines both texts end with, beyond those that they begin with.
fn common_end(before: &str, after: &str) -> usize {
    let room = before.len().min(after.len()) - common_start(before, after);
    let same = before.bytes().rev().zip(after.bytes().rev()).take(room).take_while(|(a, b)| a == b).count();
    let tail = &before.as_bytes()[before.len() - same..];
    memchr::memchr(b'\n', tail).map_or(0, |end| tail.len() - end - 1)
}

fn last_lines(text: &str) -> usize {
    text.split_inclusive('\n').rev().take(CONTEXT).map(str::len).sum()
}

fn first_lines(text: &str) -> usize {
    text.split_inclusive('\n').take(CONTEXT).map(str::len).sum()
}

fn left_out(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("… {} unchanged …\n", counted(line_count(text), "line")) }
}

fn folded(text: &str) -> String {
    if text.len() <= MOST_SHOWN {
        return text.to_owned();
    }
    let end = (0..=MOST_SHOWN).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}\n… {} more …\n", &text[..end], counted(text.len() - end, "byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_only_the_change_is_shown() {
        let line = |number: usize| format!("line {number}\n");
        let before: String = (0..100_000).map(line).collect();
        let after = before.replace("line 50000\n", "another\n");
        let (short_before, short_after) = shortened(before.clone(), after.clone());
        assert!(short_before.len() < 500 && short_after.len() < 500, "{short_before}{short_after}");
        assert!(short_before.starts_with("… 49,997 lines unchanged …\nline 49997\n"), "{short_before}");
        assert!(short_before.contains("line 49999\nline 50000\nline 50001\n"), "{short_before}");
        assert!(short_after.contains("line 49999\nanother\nline 50001\n"), "{short_after}");
        assert!(shortened(before.clone(), String::new()).0.ends_with("bytes more …\n"));
        assert!(shortened(before.clone(), before.clone()).0.contains("unchanged"));
        assert!(shortened(before.clone(), before.repeat(2)).1.contains("line 0\n"));
    }
}
