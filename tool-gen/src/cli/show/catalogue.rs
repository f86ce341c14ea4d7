//! All tools in a table.

use anstyle::Style;
use tool_model::{Manifest, ToolDefinition, brief_arguments, estimate_tokens, flags};

use crate::cli::terminal::{BOLD, DIM, YELLOW, count, styled};
use crate::cli::wrap::{Column, NO_BREAK, table};

pub(super) fn of(manifest: &Manifest, width: usize) -> String {
    if manifest.is_empty() {
        return format!("No tools. {}\n", styled(DIM, "`#[tool]` or `#[tool_class]` makes some."));
    }
    let mut total = 0;
    let rows: Vec<Vec<String>> = manifest
        .iter()
        .map(|(name, tool)| {
            let tokens = estimate_tokens(name, tool);
            total += tokens;
            vec![name.to_owned(), arguments(tool), flags(tool).join(" "), tokens.to_string()]
        })
        .collect();
    let column = |title, style, right, gives, least| Column { title, style, right, gives, least };
    let mut columns = vec![
        column("TOOL", BOLD, false, 2, 14),
        column("ARGUMENTS", Style::new(), false, 3, 20),
        column("FLAGS", YELLOW, false, 8, 11),
        column("TOKENS", DIM, true, 0, 6),
    ];
    let mut rows = rows;
    // A column without a word in it only takes room.
    for index in [2, 1] {
        if rows.iter().all(|row| row[index].is_empty()) {
            columns.remove(index);
            rows.iter_mut().for_each(|row| drop(row.remove(index)));
        }
    }
    let summary = format!("{}, about {total} tokens", count(manifest.len(), "tool"));
    format!("{}\n{}\n", table(&columns, &rows, width), styled(BOLD, summary))
}

/// What belongs to one argument is held together on one line.
fn arguments(tool: &ToolDefinition) -> String {
    let each = brief_arguments(tool).into_iter().map(|argument| argument.replace(' ', NO_BREAK));
    each.collect::<Vec<_>>().join(", ")
}
