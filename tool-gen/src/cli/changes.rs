//! Rendering of changes.

use std::fmt::Write;

use anstyle::Style;
use similar::TextDiff;
use tool_model::compatibility::{Change, ChangeKind};

use super::terminal::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, count, styled, width};
use super::wrap::wrap_text;

/// Renders the changes in groups, breaking ones first.
pub(super) fn render(changes: &[Change]) -> String {
    let groups = [
        (ChangeKind::Breaking, "Breaking", "valid calls may fail", RED),
        (ChangeKind::Compatible, "Compatible", "calls that were valid still are", GREEN),
        (ChangeKind::Text, "Text", "only descriptions for the model", YELLOW),
    ];
    let mut text = String::new();
    for (kind, title, meaning, style) in groups {
        let group: Vec<_> = changes.iter().filter(|change| change.kind == kind).collect();
        if !group.is_empty() {
            let title = styled(style.bold(), format_args!("{title} ({})", group.len()));
            let _ = writeln!(text, "{title} {}", styled(DIM, meaning));
            by_tool(&group, style, &mut text);
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn by_tool(changes: &[&Change], style: Style, text: &mut String) {
    for of_tool in changes.chunk_by(|a, b| a.tool == b.tool) {
        let _ = writeln!(text, "  {}", styled(BOLD, &of_tool[0].tool));
        for change in of_tool {
            let line = match change.path.as_str() {
                "" => change.message.clone(),
                path => format!("{path}: {}", change.message),
            };
            let lines = wrap_text(&line, width().saturating_sub(6));
            for (index, line) in lines.iter().enumerate() {
                let mark = if index == 0 { styled(style, "•") } else { " ".to_owned() };
                let _ = writeln!(text, "    {mark} {line}");
            }
        }
    }
}

/// `2 breaking changes, 1 compatible change`
pub(super) fn summary(changes: &[Change]) -> String {
    let of = |kind| changes.iter().filter(|change| change.kind == kind).count();
    let parts = [
        (of(ChangeKind::Breaking), "breaking change"),
        (of(ChangeKind::Compatible), "compatible change"),
        (of(ChangeKind::Text), "text change"),
    ];
    let parts: Vec<_> =
        parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| count(number, noun)).collect();
    if parts.is_empty() { "no change in the manifest".to_owned() } else { parts.join(", ") }
}

/// Returns `true` if a change may break a caller.
pub(super) fn has_breaking(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.kind == ChangeKind::Breaking)
}

/// Returns a unified diff with three lines of context.
pub(super) fn unified_diff(old: &str, new: &str, names: [&str; 2]) -> String {
    let difference = TextDiff::from_lines(old, new);
    let unified = difference.unified_diff().context_radius(3).header(names[0], names[1]).to_string();
    let coloured = unified.lines().map(|line| {
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => BOLD,
            [b'-', ..] => RED,
            [b'+', ..] => GREEN,
            [b'@', ..] => CYAN,
            _ => return format!("{line}\n"),
        };
        format!("{}\n", styled(style, line))
    });
    coloured.collect()
}
