//! Rendering of a question.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use similar::TextDiff;
use tool_model::{KEYS, KeyKind, ToolDefinition};

use super::question_page::{PageColour, QuestionPage};
use crate::Effect;
use crate::confirm::Question;
use crate::display::{escape, escape_lines, json, json_folded, thousands};

/// The number of characters after which a string is folded.
const MAX_STRING: usize = 400;
/// The number of rows after which a text is folded, so that the tool's name stays in sight.
const MAX_ROWS: usize = 40;
/// The number of rows that each argument gets at least.
const MIN_ROWS: usize = 4;
/// The length after which a name is folded, so that the terminal does not break its line.
const MAX_NAME: usize = 60;
/// The length of a folded name.
const FOLDED_NAME: usize = 32;

/// Returns the text of a question, and `true` if parts of it are folded.
pub(super) fn render(question: &Question, edited: bool, in_full: bool, colours: bool) -> (String, bool) {
    let mut page = QuestionPage { text: String::new(), folded: false, colours, in_full };
    page.text.push('\n');
    let tool = name(&mut page, &question.tool);
    page.paint(&tool, Some(PageColour::Bold));
    page.line(" wants to run", None);
    for (what, named) in origins(question) {
        let named = name(&mut page, named);
        page.line(&format!("  {what} {named}"), None);
    }
    let flags = flags(&question.definition);
    if !flags.is_empty() {
        page.line(&format!("  {}", flags.join(", ")), Some(PageColour::Yellow));
    }
    page.framed(escape_lines(&question.definition.description).map(|line| (line, None)), MAX_ROWS);
    for (what, named) in [("tool", &*question.tool)].into_iter().chain(origins(question)) {
        if in_full && is_long(named) {
            section(&mut page, what, &Value::from(named));
        }
    }
    arguments(&mut page, if edited { "arguments, edited" } else { "arguments" }, &question.marked());
    if !question.repairs.is_empty() {
        page.line("  repaired", None);
        let repairs: Vec<String> = question.repairs.iter().map(repair).collect();
        page.framed(repairs.iter().map(|repair| (escape(repair), None)), MAX_ROWS);
    }
    if let Some(preview) = &question.preview {
        show_preview(&mut page, preview);
    }
    (page.text, page.folded)
}

/// Returns the known origins of the call, each with a label.
fn origins(question: &Question) -> impl Iterator<Item = (&'static str, &str)> {
    let known =
        [("in conversation", &question.conversation), ("by channel", &question.channel), ("in chat", &question.chat)];
    known.into_iter().filter_map(|(what, named)| Some((what, named.as_deref()?)))
}

/// Escapes a name for a line of trusted text. Non-ASCII letters are escaped too, since they may imitate other names.
fn name(page: &mut QuestionPage, name: &str) -> String {
    let mut escaped = name.escape_default().to_string();
    if is_long(name) {
        page.folded |= !page.in_full;
        let more = thousands(escaped.len() - FOLDED_NAME);
        escaped.truncate(FOLDED_NAME);
        escaped.push_str(&format!(" … {more} more"));
    }
    escaped
}

fn is_long(name: &str) -> bool {
    name.escape_default().count() > MAX_NAME
}

/// Formats a repair on one line; see [`Repair`](crate::arguments::Repair).
fn repair(repair: &Value) -> String {
    let part = |name| repair.get(name).and_then(Value::as_str);
    let (Some(path), Some(from), Some(to), Some(why)) = (part("path"), part("from"), part("to"), part("why")) else {
        return repair.to_string();
    };
    let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
    let to = if to.is_empty() { "left out" } else { to };
    format!("{place}{from} → {to} ({})", why.replace('_', " "))
}

fn flags(definition: &ToolDefinition) -> Vec<String> {
    let flags = KEYS.iter().filter(|key| key.kind == KeyKind::Flag && key.is_on(definition));
    flags.map(|key| key.name.replace('_', " ")).collect()
}

/// Shows all arguments under a title. Each is folded separately, so that a long one does not hide another.
fn arguments(page: &mut QuestionPage, title: &str, arguments: &Value) {
    let Some(object) = arguments.as_object().filter(|object| object.len() > 1) else {
        return section(page, title, arguments);
    };
    page.line(&format!("  {title}"), None);
    page.framed([("{".into(), None)], MAX_ROWS);
    let rows = (MAX_ROWS / object.len()).max(MIN_ROWS);
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_unstable_by_key(|(name, _)| *name);
    let last = entries.len() - 1;
    for (index, (name, value)) in entries.into_iter().enumerate() {
        let alone = Value::Object([(name.clone(), value.clone())].into_iter().collect());
        let text = json_text(page, &alone);
        let text = text.trim_start_matches("{\n").trim_end_matches("\n}");
        let comma = if index < last { "," } else { "" };
        page.framed(format!("{text}{comma}").lines().map(|line| (Cow::Borrowed(line), None)), rows);
    }
    page.framed([("}".into(), None)], MAX_ROWS);
}

/// Shows a value as JSON under a title.
fn section(page: &mut QuestionPage, title: &str, value: &Value) {
    page.line(&format!("  {title}"), None);
    let text = json_text(page, value);
    page.framed(text.lines().map(|line| (Cow::Borrowed(line), None)), MAX_ROWS);
}

/// Formats a value as JSON, with long strings folded unless the page is shown in full.
fn json_text(page: &mut QuestionPage, value: &Value) -> String {
    let whole = json(value);
    if page.in_full {
        return whole;
    }
    let folded = json_folded(value, MAX_STRING);
    page.folded |= folded != whole;
    folded
}

/// Shows a preview: an effect under the name of its kind, or any other value as JSON.
fn show_preview(page: &mut QuestionPage, preview: &Value) {
    let effect = match preview {
        Value::String(text) => Ok(Effect::Text(text.clone())),
        other => Effect::deserialize(other),
    };
    match effect {
        Ok(Effect::Diff { path, before, after }) => {
            let title = path.map_or_else(|| "diff".to_owned(), |path| format!("diff of {}", name(page, &path)));
            // Past the timeout, the rest is shown as removed and added.
            let diff = TextDiff::configure().timeout(Duration::from_millis(200)).diff_lines(&before, &after);
            show_text(page, &title, &diff.unified_diff().missing_newline_hint(false).to_string(), true);
        }
        Ok(Effect::Command(command)) => show_text(page, "command", &command, false),
        Ok(Effect::Statement(statement)) => show_text(page, "statement", &statement, false),
        Ok(Effect::Text(text)) if is_diff(&text) => show_text(page, "diff", &text, true),
        Ok(Effect::Text(text)) => show_text(page, "preview", &text, false),
        Err(_) => section(page, "preview", preview),
    }
}

fn show_text(page: &mut QuestionPage, title: &str, text: &str, is_diff: bool) {
    page.line(&format!("  {title}"), None);
    let colour = |line: &str| if is_diff { diff_colour(line) } else { None };
    page.framed(
        escape_lines(text).map(|line| {
            let colour = colour(&line);
            (line, colour)
        }),
        MAX_ROWS,
    );
}

fn is_diff(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("@@ "))
}

fn diff_colour(line: &str) -> Option<PageColour> {
    match line.as_bytes().first()? {
        b'+' => Some(PageColour::Green),
        b'-' => Some(PageColour::Red),
        b'@' => Some(PageColour::Cyan),
        _ => None,
    }
}
