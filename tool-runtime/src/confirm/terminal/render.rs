//! A question as it stands on the screen.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use similar::TextDiff;
use tool_model::{KEYS, KeyKind, ToolDefinition};

use super::frame::{Colour, Page};
use crate::Effect;
use crate::confirm::Question;
use crate::display::{escape, escape_lines, json, json_folded, thousands};

/// The most of a string among the arguments that is shown at first.
const STRING: usize = 400;
/// More rows than that are folded, so that the tool's name stays in sight.
const ROWS: usize = 40;
/// However many arguments there are, so much is shown of each.
const LEAST_ROWS: usize = 4;
/// A longer name is folded: a line of ours must not be broken by the terminal.
const NAME: usize = 60;
/// What is left of it then.
const NAME_START: usize = 32;

/// The text of a question, and whether some of it was folded.
pub(super) fn render(question: &Question, edited: bool, in_full: bool, colours: bool) -> (String, bool) {
    let mut page = Page { text: String::new(), folded: false, colours, in_full };
    page.text.push('\n');
    let tool = name(&mut page, &question.tool);
    page.paint(&tool, Some(Colour::Bold));
    page.line(" wants to run", None);
    for (what, named) in whence(question) {
        let named = name(&mut page, named);
        page.line(&format!("  {what} {named}"), None);
    }
    let flags = flags(&question.definition);
    if !flags.is_empty() {
        page.line(&format!("  {}", flags.join(", ")), Some(Colour::Yellow));
    }
    page.framed(escape_lines(&question.definition.description).map(|line| (line, None)), ROWS);
    for (what, named) in [("tool", &*question.tool)].into_iter().chain(whence(question)) {
        if in_full && is_long(named) {
            section(&mut page, what, &Value::from(named));
        }
    }
    arguments(&mut page, if edited { "arguments, edited" } else { "arguments" }, &question.marked());
    if !question.repairs.is_empty() {
        page.line("  mended", None);
        let repairs: Vec<String> = question.repairs.iter().map(repair).collect();
        page.framed(repairs.iter().map(|repair| (escape(repair), None)), ROWS);
    }
    if let Some(preview) = &question.preview {
        show_preview(&mut page, preview);
    }
    (page.text, page.folded)
}

/// Where the call comes from, as far as that is known.
fn whence(question: &Question) -> impl Iterator<Item = (&'static str, &str)> {
    let known =
        [("in conversation", &question.conversation), ("by channel", &question.channel), ("in chat", &question.chat)];
    known.into_iter().filter_map(|(what, named)| Some((what, named.as_deref()?)))
}

/// A name stands on a line of ours. What is not ASCII is escaped in it: letters that look alike make other names.
fn name(page: &mut Page, name: &str) -> String {
    let mut escaped = name.escape_default().to_string();
    if is_long(name) {
        page.folded |= !page.in_full;
        let more = thousands(escaped.len() - NAME_START);
        escaped.truncate(NAME_START);
        escaped.push_str(&format!(" … {more} more"));
    }
    escaped
}

fn is_long(name: &str) -> bool {
    name.escape_default().count() > NAME
}

/// What was mended, on one line; see [`Repair`](crate::arguments::Repair).
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

/// All arguments under a title. Each is folded by itself: a long one must not push another out of sight.
fn arguments(page: &mut Page, title: &str, arguments: &Value) {
    let Some(object) = arguments.as_object().filter(|object| object.len() > 1) else {
        return section(page, title, arguments);
    };
    page.line(&format!("  {title}"), None);
    page.framed([("{".into(), None)], ROWS);
    let rows = (ROWS / object.len()).max(LEAST_ROWS);
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_unstable_by_key(|(name, _)| *name);
    let last = entries.len() - 1;
    for (index, (name, value)) in entries.into_iter().enumerate() {
        let alone = Value::Object([(name.clone(), value.clone())].into_iter().collect());
        let text = text_in(page, &alone);
        let text = text.trim_start_matches("{\n").trim_end_matches("\n}");
        let comma = if index < last { "," } else { "" };
        page.framed(format!("{text}{comma}").lines().map(|line| (Cow::Borrowed(line), None)), rows);
    }
    page.framed([("}".into(), None)], ROWS);
}

/// A value as JSON under a title.
fn section(page: &mut Page, title: &str, value: &Value) {
    page.line(&format!("  {title}"), None);
    let text = text_in(page, value);
    page.framed(text.lines().map(|line| (Cow::Borrowed(line), None)), ROWS);
}

/// A value as JSON, whole or with its long texts folded.
fn text_in(page: &mut Page, value: &Value) -> String {
    let whole = json(value);
    if page.in_full {
        return whole;
    }
    let folded = json_folded(value, STRING);
    page.folded |= folded != whole;
    folded
}

/// What the call would do: a text under the name of its kind, or whatever else the tool says.
fn show_preview(page: &mut Page, preview: &Value) {
    let effect = match preview {
        Value::String(text) => Ok(Effect::Text(text.clone())),
        other => Effect::deserialize(other),
    };
    match effect {
        Ok(Effect::Diff { path, before, after }) => {
            let title = path.map_or_else(|| "diff".to_owned(), |path| format!("diff of {}", name(page, &path)));
            // What is not found in this time stands as removed and written anew.
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

fn show_text(page: &mut Page, title: &str, text: &str, is_diff: bool) {
    page.line(&format!("  {title}"), None);
    let colour = |line: &str| if is_diff { diff_colour(line) } else { None };
    page.framed(
        escape_lines(text).map(|line| {
            let colour = colour(&line);
            (line, colour)
        }),
        ROWS,
    );
}

fn is_diff(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("@@ "))
}

fn diff_colour(line: &str) -> Option<Colour> {
    match line.as_bytes().first()? {
        b'+' => Some(Colour::Green),
        b'-' => Some(Colour::Red),
        b'@' => Some(Colour::Cyan),
        _ => None,
    }
}
