//! A question as it stands on the screen.

use std::borrow::Cow;

use serde_json::Value;
use tool_model::ToolDefinition;

use super::frame::{Colour, Page};
use crate::confirm::Question;
use crate::display::{escape, escape_lines, fold, json, json_folded};

/// The most of a string among the arguments that is shown at first.
const STRING: usize = 400;
/// The most of a name that is shown: a line of ours must not be broken by the terminal.
const NAME: usize = 48;

/// The text of a question, and whether some of it was folded.
pub(super) fn render(question: &Question, edited: bool, in_full: bool, colours: bool) -> (String, bool) {
    let mut page = Page { text: String::new(), folded: false, colours, in_full };
    page.text.push('\n');
    page.paint(&name(&question.tool), Some(Colour::Bold));
    page.line(" wants to run", None);
    if let Some(conversation) = &question.conversation {
        page.line(&format!("  in conversation {}", name(conversation)), None);
    }
    let flags = flags(&question.definition);
    if !flags.is_empty() {
        page.line(&format!("  {}", flags.join(", ")), Some(Colour::Yellow));
    }
    page.framed(escape_lines(&question.definition.description).map(|line| (line, None)));
    section(&mut page, if edited { "arguments, edited" } else { "arguments" }, &question.arguments);
    if !question.repairs.is_empty() {
        section(&mut page, "mended", &Value::Array(question.repairs.clone()));
    }
    if let Some(preview) = &question.preview {
        show_preview(&mut page, preview);
    }
    (page.text, page.folded)
}

fn name(text: &str) -> String {
    let escaped = escape(text);
    match fold(&escaped, NAME) {
        (whole, 0) => whole.to_owned(),
        (start, more) => format!("{start} … {more} more characters"),
    }
}

fn flags(definition: &ToolDefinition) -> Vec<&'static str> {
    let flags = [
        ("sensitive", definition.sensitive),
        ("destructive", definition.destructive),
        ("idempotent", definition.idempotent),
        ("read only", definition.read_only),
    ];
    flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name).collect()
}

/// A value as JSON under a title.
fn section(page: &mut Page, title: &str, value: &Value) {
    page.line(&format!("  {title}"), None);
    let whole = json(value);
    let shown = if page.in_full { whole } else { folded(page, value, whole) };
    page.framed(shown.lines().map(|line| (Cow::Borrowed(line), None)));
}

fn folded(page: &mut Page, value: &Value, whole: String) -> String {
    let folded = json_folded(value, STRING);
    page.folded |= folded != whole;
    folded
}

/// What the call would do: a text under the name of its kind, or whatever else the tool says.
fn show_preview(page: &mut Page, preview: &Value) {
    let known = ["diff", "command", "statement"];
    let (title, text) = match preview {
        Value::String(text) if is_diff(text) => ("diff", text),
        Value::String(text) => ("preview", text),
        Value::Object(object) if object.len() == 1 => {
            match known.into_iter().find_map(|kind| Some((kind, object.get(kind)?.as_str()?))) {
                Some((kind, text)) => return show_text(page, kind, text),
                None => return section(page, "preview", preview),
            }
        }
        _ => return section(page, "preview", preview),
    };
    show_text(page, title, text);
}

fn show_text(page: &mut Page, title: &str, text: &str) {
    page.line(&format!("  {title}"), None);
    let colour = |line: &str| if title == "diff" { diff_colour(line) } else { None };
    page.framed(escape_lines(text).map(|line| {
        let colour = colour(&line);
        (line, colour)
    }));
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
