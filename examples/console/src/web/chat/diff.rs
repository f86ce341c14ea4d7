//! Side-by-side diffs.

use std::borrow::Cow;

use maud::{Markup, html};
use serde_json::Value;
use similar::{ChangeTag, DiffOp, TextDiff};
use tool_runtime::ToolResult;

/// Number of context lines around a change.
const CONTEXT: usize = 3;

/// Maximum number of rows of a diff.
const ROWS: usize = 2000;

/// Renders the changes that a result reports.
pub(super) fn changes(result: &ToolResult) -> Markup {
    let changes = result.metadata.get("changes").and_then(Value::as_array);
    html! {
        @for change in changes.into_iter().flatten() {
            details.changes {
                summary { "See changes of " code { (change["path"].as_str().unwrap_or("a file")) } }
                (side_by_side(&content(&change["before"]), &content(&change["after"])))
            }
        }
    }
}

/// Returns the text of a file, or a description of one that is too long or no text.
fn content(noted: &Value) -> Cow<'_, str> {
    match (noted.as_str(), noted["type"].as_str()) {
        (Some(text), _) => Cow::Borrowed(text),
        (None, Some(kind)) => Cow::Owned(format!("({kind}, {} bytes, not shown)\n", noted["bytes"])),
        (None, None) => Cow::Borrowed(""),
    }
}

/// Renders the preview of a call.
pub(super) fn effect(preview: &Value) -> Markup {
    let diff = &preview["diff"];
    html! {
        h3.quiet { "What it would do" }
        @if diff.is_object() {
            @if let Some(path) = diff["path"].as_str() { p { code { (path) } } }
            (side_by_side(diff["before"].as_str().unwrap_or_default(), diff["after"].as_str().unwrap_or_default()))
        } @else {
            @let text = ["command", "statement", "text"].into_iter().find_map(|key| preview[key].as_str());
            pre tabindex="0" { (text.map_or_else(|| preview.to_string(), str::to_owned)) }
        }
    }
}

/// One row: the old and the new line, each with its number.
type Row<'a> = (Option<(usize, &'a str)>, Option<(usize, &'a str)>, bool);

fn side_by_side(before: &str, after: &str) -> Markup {
    let diff = TextDiff::from_lines(before, after);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        if !rows.is_empty() {
            rows.push((None, None, false));
        }
        for operation in group {
            add(&mut rows, &diff, &operation);
        }
    }
    let left_out = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    html! {
        div.diff tabindex="0" role="region" aria-label="Changes" {
            table {
                tbody {
                    @for (before, after, changed) in &rows {
                        @if before.is_none() && after.is_none() {
                            tr.same { td.gutter { "⋯" } td {} td.gutter { "⋯" } td {} }
                        } @else {
                            tr.same[!changed] { (side(*before, *changed, "removed")) (side(*after, *changed, "added")) }
                        }
                    }
                }
            }
        }
        @if left_out > 0 { p.quiet { (left_out) " more rows" } }
    }
}

fn side(line: Option<(usize, &str)>, changed: bool, class: &str) -> Markup {
    html! {
        @match line {
            Some((number, text)) => {
                td.gutter { (number) }
                td class=[changed.then_some(class)] {
                    @if changed { span.quiet aria-label=(class) { (if class == "added" { "+ " } else { "− " }) } }
                    (text)
                }
            }
            None => { td.gutter {} td {} }
        }
    }
}

fn add<'a>(rows: &mut Vec<Row<'a>>, diff: &'a TextDiff<'a, 'a, str>, operation: &DiffOp) {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for change in diff.iter_changes(operation) {
        let text = change.value().trim_end_matches(['\n', '\r']);
        match change.tag() {
            ChangeTag::Equal => {
                let number = |index: Option<usize>| index.map(|index| (index + 1, text));
                rows.push((number(change.old_index()), number(change.new_index()), false));
            }
            ChangeTag::Delete => old.extend(change.old_index().map(|index| (index + 1, text))),
            ChangeTag::Insert => new.extend(change.new_index().map(|index| (index + 1, text))),
        }
    }
    for row in 0..old.len().max(new.len()) {
        rows.push((old.get(row).copied(), new.get(row).copied(), true));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_runtime::ToolResult;

    use super::{changes, side_by_side};

    #[test]
    fn a_content_that_is_not_noted_is_described() {
        let mut result = ToolResult::success(String::new());
        let before = json!({"type": "text/plain", "bytes": 300_000, "handle": "r1"});
        result.metadata.insert("changes", json!([{"path": "a", "before": before, "after": "short"}]));
        let shown = changes(&result).into_string();
        assert!(shown.contains("(text/plain, 300000 bytes, not shown)") && shown.contains("short"), "{shown}");
    }

    #[test]
    fn a_changed_line_stands_beside_what_it_was() {
        let shown = side_by_side("one\ntwo\nthree\n", "one\n2 <b>\nthree\n").into_string();
        assert!(shown.contains(r#"<td class="removed">"#) && shown.contains(r#"<td class="added">"#), "{shown}");
        assert!(shown.contains("2 &lt;b&gt;"), "{shown}");
    }
}
