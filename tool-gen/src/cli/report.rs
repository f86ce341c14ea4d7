//! Rendering of diagnostics and failures, with the source line and a caret.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;
use tool_gen::{Diagnostic, Severity, SourcePlace};

use super::arguments::OutputFormat;
use super::exit::{CommandFailure, ExitStatus};
use super::terminal::{display_path, print_json, print_status, width};

/// Prints a failure.
pub(super) fn failure(failure: &CommandFailure, format: OutputFormat) -> ExitStatus {
    match format {
        OutputFormat::Text => print_status(render(Level::ERROR, &failure.to_string(), failure.help_text(), None)),
        // If stdout is closed, the error cannot be reported.
        OutputFormat::Json => drop(print_json(&json_failure(failure))),
    }
    ExitStatus::Error
}

/// A failure for `--format json`.
#[derive(Serialize)]
pub(super) struct JsonFailure<'a> {
    error: String,
    help: Option<&'a str>,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

pub(super) fn json_failure(failure: &CommandFailure) -> JsonFailure<'_> {
    JsonFailure { error: failure.to_string(), help: failure.help_text(), diagnostics: json(failure.diagnostics()) }
}

/// Prints the diagnostics of a scan.
pub(super) fn diagnostics(diagnostics: &[Diagnostic]) {
    for found in diagnostics {
        let level = match found.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        print_status(format_args!("{}\n", render(level, &found.message, found.help.as_deref(), found.place.as_ref())));
    }
}

/// Renders a message like rustc.
pub(super) fn render(level: Level<'_>, message: &str, help: Option<&str>, place: Option<&SourcePlace>) -> String {
    let path = place.map(|place| display_path(&place.file));
    let title = level.primary_title(message);
    let mut group = Group::with_title(title);
    if let (Some(place), Some(path)) = (place, &path) {
        let snippet = Snippet::source(place.text.as_str()).line_start(place.line.max(1)).path(path.as_str());
        let snippet = match place.line {
            0 => snippet,
            _ => snippet.annotation(AnnotationKind::Primary.span(span(place))),
        };
        group = group.element(snippet);
    }
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help));
    }
    // Escape codes are removed when the output is not a terminal.
    Renderer::styled().term_width(width()).render(&[group])
}

/// Returns the byte range of the columns.
fn span(place: &SourcePlace) -> std::ops::Range<usize> {
    let byte = |column: usize| place.text.char_indices().nth(column).map_or(place.text.len(), |(index, _)| index);
    let first = place.column.saturating_sub(1);
    let start = byte(first);
    start..byte(first + place.width.max(1)).max(start)
}

/// A diagnostic for `--format json`.
#[derive(Serialize)]
pub(super) struct JsonDiagnostic<'a> {
    severity: &'static str,
    message: &'a str,
    help: Option<&'a str>,
    place: Option<JsonPlace<'a>>,
}

/// A place for `--format json`.
#[derive(Serialize)]
pub(super) struct JsonPlace<'a> {
    file: String,
    line: usize,
    column: usize,
    width: usize,
    text: &'a str,
}

impl<'a> JsonPlace<'a> {
    pub(super) fn new(place: &'a SourcePlace) -> Self {
        Self {
            file: place.file.display().to_string(),
            line: place.line,
            column: place.column,
            width: place.width,
            text: &place.text,
        }
    }
}

/// Converts diagnostics for `--format json`.
pub(super) fn json(diagnostics: &[Diagnostic]) -> Vec<JsonDiagnostic<'_>> {
    let one = |found: &'_ Diagnostic| -> &'static str {
        match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    };
    diagnostics
        .iter()
        .map(|found| JsonDiagnostic {
            severity: one(found),
            message: &found.message,
            help: found.help.as_deref(),
            place: found.place.as_ref().map(JsonPlace::new),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_the_place_of_a_message() {
        let place = SourcePlace {
            file: "src/lib.rs".into(),
            line: 7,
            column: 12,
            width: 5,
            text: "    größe: Thing,".to_owned(),
        };
        let shown = render(Level::WARNING, "`Thing` cannot be seen", Some("write `#[arg(..)]`"), Some(&place));
        let shown = anstream::adapter::strip_str(&shown).to_string();
        assert_eq!(
            shown,
            "warning: `Thing` cannot be seen\n \
             --> src/lib.rs:7:12\n  \
             |\n\
             7 |     größe: Thing,\n  \
             |            ^^^^^\n  \
             |\n  \
             = help: write `#[arg(..)]`"
        );
    }

    /// A place beyond its line must not panic.
    #[test]
    fn renders_places_outside_of_the_line() {
        for (line, column, width) in [(0, 0, 0), (1, 0, 0), (3, 90, 7), (3, 1, 90)] {
            let place = SourcePlace { file: "a.rs".into(), line, column, width, text: "ü".to_owned() };
            assert!(render(Level::ERROR, "bad", None, Some(&place)).contains("a.rs"));
        }
    }
}
