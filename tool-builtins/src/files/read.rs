//! `read_file`.

use tool_runtime::display::thousands;
use tool_runtime::{CancellationToken, HandlerError};

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
    let mut text = if line_numbers { numbered(&lines.text, wanted.offset) } else { lines.text };
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

/// What the text itself does not say: which part of the file it is, and in which encoding it was.
fn note(wanted: Wanted, lines: &Lines) -> Option<String> {
    let next = wanted.offset + lines.count as u64;
    let mut notes = Vec::new();
    match lines.rest {
        Rest::Nothing if wanted.offset == 0 => {}
        Rest::Nothing => {
            notes.push(format!("{}, the last.", range(wanted.offset + 1, next)));
        }
        Rest::Lines => {
            notes.push(format!("{}; more follow, from `offset` {next} on.", range(wanted.offset + 1, next)));
        }
        Rest::OfTheLine => notes.push(format!(
            "Line {next} is longer than {} bytes and was cut; the next begins at `offset` {next}.",
            thousands(wanted.bytes)
        )),
    }
    if let Some(encoding) = lines.form.name() {
        notes.push(format!("Read as {encoding}."));
    }
    (!notes.is_empty()).then(|| format!("[{}]", notes.join(" ")))
}

/// Lines by their numbers.
fn range(first: u64, last: u64) -> String {
    match first == last {
        true => format!("Line {}", thousands(first)),
        false => format!("Lines {} to {}", thousands(first), thousands(last)),
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
        NoLines::Cancelled => HandlerError::failed("The call was stopped."),
    }
}
