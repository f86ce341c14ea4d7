//! The `read_file` tool.

use std::borrow::Cow;

use encoding_rs::UTF_8;
use tool_runtime::display::thousands;
use tool_runtime::{CancellationToken, HandlerError};

use super::controls::escape_controls;
use super::errors::{FileResult, explain, quote_path};
use super::line_range::{self, FileLines, LineRange, LinesError, LinesLeft};
use super::workspace::Workspace;
use crate::count::format_count;

/// Reads lines of a file and formats them for the model.
pub(super) fn read(
    workspace: &Workspace,
    path: &str,
    range: LineRange,
    line_numbers: bool,
    cancelled: &CancellationToken,
) -> FileResult<String> {
    let (file, metadata) = workspace.file(path)?;
    let lines = line_range::read(file, range, || cancelled.is_cancelled())
        .map_err(|error| read_error(path, range, metadata.len(), error))?;
    if lines.count == 0 {
        return Ok(format!("{} is empty.", quote_path(path)));
    }
    let note = note(range, &lines);
    let shown = escape_controls(&lines.text);
    let mut text = if line_numbers { number_lines(&shown, range.offset) } else { shown.into_owned() };
    if let Some(note) = note {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&note);
    }
    Ok(text)
}

/// Prefixes each line with its number, starting at `offset` + 1.
pub(super) fn number_lines(text: &str, offset: u64) -> String {
    let mut numbered = String::with_capacity(text.len() + text.len() / 4);
    for (line, number) in text.split_inclusive('\n').zip(offset + 1..) {
        numbered.push_str(&format!("{number:>6}\t{line}"));
    }
    numbered
}

/// Describes what the text itself does not show: its position in the file, and how it was decoded.
fn note(range: LineRange, lines: &FileLines) -> Option<String> {
    let next = range.offset + lines.count as u64;
    let mut notes = Vec::new();
    match lines.rest {
        LinesLeft::Nothing if range.offset == 0 && range.column == 0 => {}
        LinesLeft::Nothing => notes.push(format!("{}, the end of the file.", line_numbers(range, next))),
        LinesLeft::Lines => notes.push(format!("{}; continue with `offset` {next}.", line_numbers(range, next))),
        LinesLeft::OfTheLine(column) => notes.push(format!(
            "{} is longer than {} bytes and was cut; continue with `offset` {} and `column` {column}. The next line \
             starts at `offset` {next}.",
            line_numbers(range, next),
            thousands(range.bytes),
            range.offset,
        )),
    }
    if let Some(encoding) = lines.encoding.filter(|encoding| *encoding != UTF_8) {
        notes.push(format!("Decoded as {}.", encoding.name()));
    }
    if lines.has_invalid {
        notes.push("Bytes that are not valid UTF-8 are shown as U+FFFD; edits leave them unchanged.".to_owned());
    }
    if matches!(escape_controls(&lines.text), Cow::Owned(_)) {
        notes.push(
            r"Control characters are shown escaped, such as `\u{1b}`; `edit_file` accepts them like that.".to_owned(),
        );
    }
    (!notes.is_empty()).then(|| format!("[{}]", notes.join(" ")))
}

/// Formats a range of line numbers.
fn line_numbers(range: LineRange, last: u64) -> String {
    let first = range.offset + 1;
    let from = match range.column {
        0 => String::new(),
        column => format!(", from character {}", thousands(column + 1)),
    };
    match first == last {
        true => format!("Line {}{from}", thousands(first)),
        false => format!("Lines {} to {}{from}", thousands(first), thousands(last)),
    }
}

fn read_error(path: &str, range: LineRange, bytes: u64, error: LinesError) -> HandlerError {
    let path_quoted = quote_path(path);
    match error {
        LinesError::Unreadable(error) => explain(path, &error),
        LinesError::Binary(binary) => {
            let bytes = format_count(bytes, "byte");
            HandlerError::failed(format!("{path_quoted} is not text but {}, {bytes}.", binary.0))
        }
        LinesError::PastTheEnd(lines) => {
            let has = format_count(lines, "line");
            HandlerError::retry(format!("{path_quoted} has {has}; `offset` {} is beyond its end.", range.offset))
        }
        LinesError::PastTheLine(characters) => HandlerError::retry(format!(
            "Line {} of {path_quoted} has {}; `column` {} is beyond its end.",
            thousands(range.offset + 1),
            format_count(characters, "character"),
            range.column
        )),
        LinesError::Cancelled => HandlerError::failed("The call was cancelled."),
    }
}
