//! The `write_file` tool.

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::HandlerError;

use super::change::{FileChange, FileContent};
use super::entry::FileEntry;
use super::errors::{FileResult, quote_path};
use super::line_breaks::{line_count, line_ending, with_ending};
use super::text::{BinaryFile, Splice, TextFile};
use crate::count::format_count;

/// The treatment of a file's existing content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteMode {
    /// Replaces it.
    #[default]
    Overwrite,
    /// Adds to its end.
    Append,
}

/// A write that is prepared but not carried out.
#[derive(Debug)]
pub(super) struct PlannedWrite {
    bytes: Vec<u8>,
    pub(super) change: FileChange,
    summary: String,
}

impl PlannedWrite {
    /// Prepares a write to an entry. Without one, the directory of the file is missing and will be created.
    pub(super) fn new(
        path: &str,
        entry: Option<&FileEntry>,
        content: &str,
        mode: WriteMode,
        limit: u64,
    ) -> FileResult<Self> {
        let existing = entry.filter(|entry| entry.exists());
        match (mode, existing) {
            (WriteMode::Append, Some(entry)) => Self::append(path, entry, content, limit),
            (_, Some(entry)) => Ok(Self::whole(path, "Wrote", content, entry.content(limit)?)),
            (_, None) => Ok(Self::whole(path, "Created", content, FileContent::Nothing)),
        }
    }

    fn whole(path: &str, verb: &str, content: &str, before: FileContent) -> Self {
        let size = format_size(content, content.len());
        let after = FileContent::Text(content.to_owned());
        Self {
            bytes: content.as_bytes().to_vec(),
            change: FileChange::new(path, before, after),
            summary: format!("{verb} {path}, {size}."),
        }
    }

    /// Prepares appending to a file, on a new line, with its encoding and line breaks.
    fn append(path: &str, entry: &FileEntry, content: &str, limit: u64) -> FileResult<Self> {
        let before = decode(path, entry.read(limit)?)?;
        let ending = if before.text.contains('\n') { line_ending(&before.text) } else { "" };
        let mut added = if ending == "\r\n" { with_ending(content, ending) } else { content.to_owned() };
        let lines = format_count(line_count(&added), "line");
        let is_open = !before.text.trim_start_matches('\u{feff}').is_empty() && !before.text.ends_with(['\n', '\r']);
        let mut broken = "";
        if is_open && !added.is_empty() && !added.starts_with(['\n', '\r']) {
            added.insert_str(0, if ending.is_empty() { "\n" } else { ending });
            broken = " The last line had no line break; one was added after it.";
        }
        let end = before.text.len();
        let (after, bytes) = before.apply_splices(path, &[Splice { range: end..end, new: added }])?;
        let summary = format!("Appended {lines} to {path}, {}.{broken}", format_size(&after.text, bytes.len()));
        let change = FileChange::new(path, FileContent::Text(before.text), FileContent::Text(after.text));
        Ok(Self { bytes, change, summary })
    }

    /// Carries out the write, and returns a summary.
    pub(super) fn run(&self, entry: &FileEntry) -> FileResult<String> {
        entry.replace(&self.bytes)?;
        Ok(self.summary.clone())
    }
}

/// Formats the size of a text, such as `42 lines, 1,204 bytes`.
pub(super) fn format_size(text: &str, bytes: usize) -> String {
    format!("{}, {}", format_count(line_count(text), "line"), format_count(bytes, "byte"))
}

/// Decodes a file. Fails if it is not text.
pub(super) fn decode(path: &str, bytes: Vec<u8>) -> FileResult<TextFile> {
    TextFile::decode(bytes)
        .map_err(|BinaryFile(kind)| HandlerError::failed(format!("{} is not text but {kind}.", quote_path(path))))
}
