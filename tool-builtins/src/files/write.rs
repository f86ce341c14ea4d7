//! `write_file`.

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::HandlerError;

use super::change::{Change, Content};
use super::entry::Entry;
use super::failure::{Outcome, quoted};
use super::patch::unmapped;
use super::text::{Binary, Form, Text, line_count, line_ending, with_ending};
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
            change: Change { path: path.to_owned(), before, after },
            summary: format!("{verb} {path}, {size}."),
        }
    }

    /// In the encoding of the file, and with its line breaks.
    fn append(path: &str, entry: &Entry, content: &str, limit: u64) -> Outcome<Self> {
        let text = decoded(path, entry.read(limit)?)?;
        let ending = if text.text.contains('\n') { line_ending(&text.text) } else { "" };
        let added = if ending == "\r\n" { with_ending(content, ending) } else { content.to_owned() };
        let after = format!("{}{added}", text.text);
        let bytes = text.encode(&after).map_err(|c| unmapped(path, text.form, c))?;
        let added = counted(line_count(&added), "line");
        let summary = format!("Appended {added} to {path}, {}.", size(&after, bytes.len()));
        let (before, after) = (Content::Text(text.text), Content::Text(after));
        Ok(Self { bytes, change: Change { path: path.to_owned(), before, after }, summary })
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
    if bytes.is_empty() {
        return Ok(Text { text: String::new(), form: Form::PLAIN });
    }
    Text::decode(bytes).map_err(|Binary(kind)| HandlerError::failed(format!("{} is no text but {kind}.", quoted(path))))
}
