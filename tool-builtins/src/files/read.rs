//! `read_file`.

use std::borrow::Cow;

use encoding_rs::UTF_8;
use tool_runtime::display::thousands;
use tool_runtime::{CancellationToken, HandlerError};

use super::controls::show_controls;
use super::failure::{Outcome, explain, quoted};
use super::lines::{self, Lines, NoLines, Rest, Wanted};
use super::workspace::Workspace;
use crate::count::counted;

/// The lines of a file as the model reads them.
pub(super) fn read(
    workspace: &Workspace,
    path: &str,
    wanted: Wanted,
    line_numbers: bool,
    cancelled: &CancellationToken,
) -> Outcome<String> {
    let (file, metadata) = workspace.file(path)?;
    let lines = lines::read(file, wanted, || cancelled.is_cancelled())
        .map_err(|error| why_not(path, wanted, metadata.len(), error))?;
    if lines.count == 0 {
        return Ok(format!("{} is empty.", quoted(path)));
    }
    let note = note(wanted, &lines);
    let shown = show_controls(&lines.text);
    let mut text = if line_numbers { numbered(&shown, wanted.offset) } else { shown.into_owned() };
    if let Some(note) = note {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&note);
    }
    Ok(text)
}

/// Each line with its number, the first being 1.
pub(super) fn numbered(text: &str, offset: u64) -> String {
    let mut numbered = String::with_capacity(text.len() + text.len() / 4);
    for (line, number) in text.split_inclusive('\n').zip(offset + 1..) {
        numbered.push_str(&format!("{number:>6}\t{line}"));
    }
    numbered
}

/// Describes what the text itself does not say: which part of the file it is, and how it was read.
fn note(wanted: Wanted, lines: &Lines) -> Option<String> {
    let next = wanted.offset + lines.count as u64;
    let mut notes = Vec::new();
    match lines.rest {
        Rest::Nothing if wanted.offset == 0 && wanted.column == 0 => {}
        Rest::Nothing => notes.push(format!("{}, the last.", range(wanted, next))),
        Rest::Lines => notes.push(format!("{}; more follow, from `offset` {next} on.", range(wanted, next))),
        Rest::OfTheLine(column) => notes.push(format!(
            "{} is longer than {} bytes and was cut; read on with `offset` {} and `column` {column}. The next line \
             begins at `offset` {next}.",
            range(wanted, next),
            thousands(wanted.bytes),
            wanted.offset,
        )),
    }
    if let Some(encoding) = lines.encoding.filter(|encoding| *encoding != UTF_8) {
        notes.push(format!("Read as {}.", encoding.name()));
    }
    if lines.has_invalid {
        notes.push("Bytes that are not valid UTF-8 are shown as U+FFFD; edits leave them as they are.".to_owned());
    }
    if matches!(show_controls(&lines.text), Cow::Owned(_)) {
        notes.push(r"Control characters are shown escaped, such as `\u{1b}`; `edit_file` takes them so.".to_owned());
    }
    (!notes.is_empty()).then(|| format!("[{}]", notes.join(" ")))
}

/// Lines by their numbers.
fn range(wanted: Wanted, last: u64) -> String {
    let first = wanted.offset + 1;
    let from = match wanted.column {
        0 => String::new(),
        column => format!(", from character {} on", thousands(column + 1)),
    };
    match first == last {
        true => format!("Line {}{from}", thousands(first)),
        false => format!("Lines {} to {}{from}", thousands(first), thousands(last)),
    }
}

fn why_not(path: &str, wanted: Wanted, bytes: u64, error: NoLines) -> HandlerError {
    let path_quoted = quoted(path);
    match error {
        NoLines::Unreadable(error) => explain(path, &error),
        NoLines::Binary(binary) => {
            let bytes = counted(bytes, "byte");
            HandlerError::failed(format!("{path_quoted} is no text but {}, {bytes}.", binary.0))
        }
        NoLines::PastTheEnd(lines) => {
            let has = counted(lines, "line");
            HandlerError::retry(format!("{path_quoted} has {has}; `offset` {} is past its end.", wanted.offset))
        }
        NoLines::PastTheLine(characters) => HandlerError::retry(format!(
            "Line {} of {path_quoted} has {}; `column` {} is past its end.",
            thousands(wanted.offset + 1),
            counted(characters, "character"),
            wanted.column
        )),
        NoLines::Cancelled => HandlerError::failed("The call was stopped."),
    }
}
