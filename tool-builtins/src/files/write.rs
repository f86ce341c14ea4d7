//! `write_file`.

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::HandlerError;

use super::change::{Change, Content};
use super::entry::Entry;
use super::failure::{Outcome, quoted};
use super::text::{Binary, Splice, Text, line_count, line_ending, with_ending};
use crate::count::counted;

/// What becomes of what a file holds already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteMode {
    /// The content takes its place.
    #[default]
    Overwrite,
    /// The content comes behind it.
    Append,
}

/// A write that is worked out and not done.
#[derive(Debug)]
pub(super) struct Write {
    bytes: Vec<u8>,
    pub(super) change: Change,
    summary: String,
}

impl Write {
    /// What becomes of an entry; without one, of a file in a folder that is yet to be made.
    pub(super) fn new(path: &str, entry: Option<&Entry>, content: &str, mode: WriteMode, limit: u64) -> Outcome<Self> {
        let existing = entry.filter(|entry| entry.exists());
        match (mode, existing) {
            (WriteMode::Append, Some(entry)) => Self::append(path, entry, content, limit),
            (_, Some(entry)) => Ok(Self::whole(path, "Wrote", content, entry.content(limit)?)),
            (_, None) => Ok(Self::whole(path, "Created", content, Content::Nothing)),
        }
    }

    fn whole(path: &str, verb: &str, content: &str, before: Content) -> Self {
        let size = size(content, content.len());
        let after = Content::Text(content.to_owned());
        Self {
            bytes: content.as_bytes().to_vec(),
            change: Change::new(path, before, after),
            summary: format!("{verb} {path}, {size}."),
        }
    }

    /// Appends in the encoding of the file and with its line breaks, on a line of its own.
    fn append(path: &str, entry: &Entry, content: &str, limit: u64) -> Outcome<Self> {
        let before = decoded(path, entry.read(limit)?)?;
        let ending = if before.text.contains('\n') { line_ending(&before.text) } else { "" };
        let mut added = if ending == "\r\n" { with_ending(content, ending) } else { content.to_owned() };
        let lines = counted(line_count(&added), "line");
        let is_open = !before.text.trim_start_matches('\u{feff}').is_empty() && !before.text.ends_with(['\n', '\r']);
        let mut broken = "";
        if is_open && !added.is_empty() && !added.starts_with(['\n', '\r']) {
            added.insert_str(0, if ending.is_empty() { "\n" } else { ending });
            broken = " The last line had no line break; one was added after it.";
        }
        let end = before.text.len();
        let (after, bytes) = before.spliced(path, &[Splice { range: end..end, new: added }])?;
        let summary = format!("Appended {lines} to {path}, {}.{broken}", size(&after.text, bytes.len()));
        let change = Change::new(path, Content::Text(before.text), Content::Text(after.text));
        Ok(Self { bytes, change, summary })
    }

    /// Does it; what was done.
    pub(super) fn run(&self, entry: &Entry) -> Outcome<String> {
        entry.replace(&self.bytes)?;
        Ok(self.summary.clone())
    }
}

/// How much a text is: `42 lines, 1,204 bytes`.
pub(super) fn size(text: &str, bytes: usize) -> String {
    format!("{}, {}", counted(line_count(text), "line"), counted(bytes, "byte"))
}

/// A file's bytes as text, if they are.
pub(super) fn decoded(path: &str, bytes: Vec<u8>) -> Outcome<Text> {
    Text::decode(bytes).map_err(|Binary(kind)| HandlerError::failed(format!("{} is no text but {kind}.", quoted(path))))
}
