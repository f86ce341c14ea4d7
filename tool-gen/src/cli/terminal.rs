//! Printing to stdout and stderr.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::exit::{FailureContext, Result};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const RED: Style = AnsiColor::Red.on_default();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();

/// The width of text without a terminal.
const DEFAULT_WIDTH: usize = 100;
const NARROWEST: usize = 40;

/// Applies a style. Escape codes are removed when the output is not a terminal.
pub(super) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints to stdout. A closed pipe (`| head`) is not an error.
pub(super) fn print(text: &str) -> Result {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context(|| "write to stdout".to_owned()),
    }
}

/// Prints one JSON value to stdout.
pub(super) fn print_json(value: &impl Serialize) -> Result {
    print(&tool_model::to_pretty(value))
}

/// Prints one JSON value as one line.
pub(super) fn print_json_line(value: &impl Serialize) -> Result {
    let line = serde_json::to_string(value).context(|| "write JSON".to_owned())?;
    print(&format!("{line}\n"))
}

/// Prints a line to stderr and ignores errors.
pub(super) fn print_status(line: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Returns the number of columns.
pub(super) fn width() -> usize {
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    terminal.or_else(said).unwrap_or(DEFAULT_WIDTH).max(NARROWEST)
}

/// `1 tool`, `2 tools`
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns a path relative to the current directory, if it is below it.
pub(super) fn display_path(file: &Path) -> String {
    let current = std::env::current_dir().and_then(|directory| directory.canonicalize()).unwrap_or_default();
    file.strip_prefix(&current).unwrap_or(file).display().to_string()
}
