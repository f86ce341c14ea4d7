//! What is wrong, with the source line and a caret.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;
use tool_gen::{Diagnostic, Place, Severity};

use super::arguments::Format;
use super::exit::{Exit, Failure};
use super::terminal::{print_json, say, shown, width};

/// Shows why the command could not do its work.
pub(super) fn failure(failure: &Failure, format: Format) -> Exit {
    match format {
        Format::Text => say(render(Level::ERROR, &failure.to_string(), failure.remedy(), None)),
        // Where stdout is gone there is nobody left to tell.
        Format::Json => drop(print_json(&json_failure(failure))),
    }
    Exit::Error
}

/// A failure as `--format json` shows it.
#[derive(Serialize)]
pub(super) struct JsonFailure<'a> {
    error: String,
    help: Option<&'a str>,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

pub(super) fn json_failure(failure: &Failure) -> JsonFailure<'_> {
    JsonFailure { error: failure.to_string(), help: failure.remedy(), diagnostics: json(failure.diagnostics()) }
}

/// Shows what a scan has to say.
pub(super) fn diagnostics(diagnostics: &[Diagnostic]) {
    for found in diagnostics {
        let level = match found.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        say(format_args!("{}\n", render(level, &found.message, found.help.as_deref(), found.place.as_ref())));
    }
}

/// One message as rustc shows it.
pub(super) fn render(level: Level<'_>, message: &str, help: Option<&str>, place: Option<&Place>) -> String {
    let path = place.map(|place| shown(&place.file));
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
    // The escapes are taken out again where no terminal reads them.
    Renderer::styled().term_width(width()).render(&[group])
}

/// The bytes of the line that the columns mean.
fn span(place: &Place) -> std::ops::Range<usize> {
    let byte = |column: usize| place.text.char_indices().nth(column).map_or(place.text.len(), |(index, _)| index);
    let first = place.column.saturating_sub(1);
    let start = byte(first);
    start..byte(first + place.width.max(1)).max(start)
}

/// A diagnostic as `--format json` shows it.
#[derive(Serialize)]
pub(super) struct JsonDiagnostic<'a> {
    severity: &'static str,
    message: &'a str,
    help: Option<&'a str>,
    place: Option<JsonPlace<'a>>,
}

/// A place as `--format json` shows it.
#[derive(Serialize)]
pub(super) struct JsonPlace<'a> {
    file: String,
    line: usize,
    column: usize,
    width: usize,
    text: &'a str,
}

impl<'a> JsonPlace<'a> {
    pub(super) fn of(place: &'a Place) -> Self {
        Self {
            file: place.file.display().to_string(),
            line: place.line,
            column: place.column,
            width: place.width,
            text: &place.text,
        }
    }
}

/// The diagnostics as `--format json` shows them.
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
            place: found.place.as_ref().map(JsonPlace::of),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_its_place() {
        let place =
            Place { file: "src/lib.rs".into(), line: 7, column: 12, width: 5, text: "    größe: Thing,".to_owned() };
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

    /// A place beyond its line must not take the program down.
    #[test]
    fn odd_places_are_survived() {
        for (line, column, width) in [(0, 0, 0), (1, 0, 0), (3, 90, 7), (3, 1, 90)] {
            let place = Place { file: "a.rs".into(), line, column, width, text: "ü".to_owned() };
            assert!(render(Level::ERROR, "bad", None, Some(&place)).contains("a.rs"));
        }
    }
}
