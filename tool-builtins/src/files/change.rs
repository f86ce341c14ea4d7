//! The change that a write makes, for its preview and its metadata.

use serde_json::{Value, json};
use tool_runtime::Effect;
use tool_runtime::inject::Notes;

use super::line_breaks::line_count;
use super::text::{BinaryFile, TextFile};
use crate::count::format_count;

/// The maximum length of a text in a result's metadata, in bytes.
const MAX_NOTED: usize = 256 * 1024;
/// The maximum length of each text in a preview, in bytes.
const MAX_PREVIEW: usize = 64 * 1024;
/// The number of lines shown around a change in a longer text.
const CONTEXT: usize = 3;

/// One file before and after a write.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileChange {
    pub(super) path: String,
    pub(super) before: FileContent,
    pub(super) after: FileContent,
    /// `true` if the file becomes executable, `false` if it stops being executable, `None` if that does not change.
    pub(super) executable: Option<bool>,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FileContent {
    /// The file does not exist.
    Nothing,
    Text(String),
    /// Content that is not shown.
    Other {
        kind: &'static str,
        bytes: u64,
    },
}

impl FileContent {
    /// Creates the content of an existing file.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        match TextFile::decode(bytes) {
            Ok(text) => Self::Text(text.text),
            Err(BinaryFile(kind)) => Self::Other { kind, bytes: length },
        }
    }

    /// Returns the content for the metadata: `null`, the text, or its type and size. A text over the limit has a handle to
    /// read it with, if the dispatcher stores long texts.
    fn to_note(&self, notes: &Notes) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Text(text) if text.len() <= MAX_NOTED => Value::from(text.as_str()),
            Self::Text(text) => {
                let mut note = json!({"type": "text/plain", "bytes": text.len()});
                if let Some(handle) = notes.spill(text) {
                    note["handle"] = Value::from(handle);
                }
                note
            }
            Self::Other { kind, bytes } => json!({"type": kind, "bytes": bytes}),
        }
    }

    fn to_text(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Text(text) => text.clone(),
            Self::Other { kind, bytes } => format!("({kind}, {})", format_count(*bytes, "byte")),
        }
    }
}

impl FileChange {
    pub(super) fn new(path: &str, before: FileContent, after: FileContent) -> Self {
        Self { path: path.to_owned(), before, after, executable: None }
    }

    /// Returns the change as the effect shown in a preview.
    pub(super) fn effect(&self) -> Effect {
        if self.executable.is_some() {
            return Effect::Text(self.to_unified_diff());
        }
        let (before, after) = shorten(self.before.to_text(), self.after.to_text());
        Effect::Diff { path: Some(self.path.clone()), before, after }
    }

    /// Formats the change as a unified diff.
    pub(super) fn to_unified_diff(&self) -> String {
        let name = |content: &FileContent, side| match content {
            FileContent::Nothing => "/dev/null".to_owned(),
            _ => format!("{side}/{}", self.path),
        };
        let (before, after) = shorten(self.before.to_text(), self.after.to_text());
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

/// Records changes in the metadata of the result: all of them as `changes`, and that of a single file also as `filePath`,
/// `originalContent` and `newContent`, where a file that does not exist is an empty text.
pub(super) fn record(notes: &Notes, changes: &[FileChange]) {
    let mut noted = Vec::with_capacity(changes.len());
    for FileChange { path, before, after, executable } in changes {
        let (before, after) = (before.to_note(notes), after.to_note(notes));
        if changes.len() == 1 {
            let or_empty = |content: &Value| if content.is_null() { Value::from("") } else { content.clone() };
            notes.insert("filePath", path);
            notes.insert("originalContent", or_empty(&before));
            notes.insert("newContent", or_empty(&after));
        }
        let mut change = json!({"path": path, "before": before, "after": after});
        if let Some(executable) = executable {
            change["executable"] = Value::from(*executable);
        }
        noted.push(change);
    }
    notes.insert("changes", noted);
}

/// Returns both texts, reduced to the parts around their differences if they are long.
fn shorten(before: String, after: String) -> (String, String) {
    if before.len().max(after.len()) <= MAX_PREVIEW {
        return (before, after);
    }
    let (start, end) = (common_start(&before, &after), common_end(&before, &after));
    let part = |text: &str| {
        let end = text.len() - end.min(text.len() - start);
        let (head, middle, tail) = (&text[..start], &text[start..end], &text[end..]);
        let (above, kept) = head.split_at(head.len() - last_lines(head));
        let (kept_below, below) = tail.split_at(first_lines(tail));
        format!("{}{kept}{}{kept_below}{}", omit(above), truncate(middle), omit(below))
    };
    (part(&before), part(&after))
}

/// Returns the length in bytes of the whole lines that both texts begin with.
fn common_start(before: &str, after: &str) -> usize {
    let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    memchr::memrchr(b'\n', &before.as_bytes()[..same]).map_or(0, |end| end + 1)
}

/// Returns the length in bytes of the whole lines that both texts end with, excluding their common start.
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

fn omit(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("… {} unchanged …\n", format_count(line_count(text), "line"))
    }
}

fn truncate(text: &str) -> String {
    if text.len() <= MAX_PREVIEW {
        return text.to_owned();
    }
    let end = (0..=MAX_PREVIEW).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}\n… {} more …\n", &text[..end], format_count(text.len() - end, "byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_only_the_changed_part_of_a_long_text() {
        let line = |number: usize| format!("line {number}\n");
        let before: String = (0..100_000).map(line).collect();
        let after = before.replace("line 50000\n", "another\n");
        let (short_before, short_after) = shorten(before.clone(), after.clone());
        assert!(short_before.len() < 500 && short_after.len() < 500, "{short_before}{short_after}");
        assert!(short_before.starts_with("… 49,997 lines unchanged …\nline 49997\n"), "{short_before}");
        assert!(short_before.contains("line 49999\nline 50000\nline 50001\n"), "{short_before}");
        assert!(short_after.contains("line 49999\nanother\nline 50001\n"), "{short_after}");
        assert!(shorten(before.clone(), String::new()).0.ends_with("bytes more …\n"));
        assert!(shorten(before.clone(), before.clone()).0.contains("unchanged"));
        assert!(shorten(before.clone(), before.repeat(2)).1.contains("line 0\n"));
    }
}
