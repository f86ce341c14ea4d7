//! The catalogue as Markdown.

use std::fmt::Write;

use tool_model::validate::describe;
use tool_model::{Manifest, ToolDefinition, estimate_tokens};

use super::type_tables::{DocField, DocType, FieldNeed, arguments, types};
use crate::cli::terminal::count;

pub(super) fn page(title: &str, manifest: &Manifest) -> String {
    let tokens: usize = manifest.iter().map(|(name, tool)| estimate_tokens(name, tool)).sum();
    let mut text = format!("# {}\n\n{}, about {tokens} tokens.\n", plain(title), count(manifest.len(), "tool"));
    if !manifest.is_empty() {
        text.push('\n');
    }
    for (name, tool) in manifest.iter() {
        let _ = writeln!(text, "- [{}](#{}): {}", code(name), anchor(name), plain(first_line(&tool.description)));
    }
    manifest.iter().for_each(|(name, tool)| section(&mut text, name, tool));
    text
}

fn section(text: &mut String, name: &str, tool: &ToolDefinition) {
    let _ = writeln!(text, "\n## {name}\n\n{}", plain(&tool.full_description()));
    let flags = tool_model::flags(tool);
    if !flags.is_empty() {
        let _ = writeln!(text, "\n**{}**", flags.join(", "));
    }
    if let Some(instructions) = &tool.instructions {
        let _ = writeln!(text, "\n{}", plain(instructions));
    }
    table(text, "argument", &arguments(tool));
    if let Some(returns) = &tool.returns {
        let _ = writeln!(text, "\nReturns {}.", plain(&describe(returns, &tool.defs)));
    }
    types(tool).iter().for_each(|definition| described(text, definition));
}

/// Renders a type that the arguments or the result refer to.
fn described(text: &mut String, definition: &DocType) {
    let _ = writeln!(text, "\n### {}", code(&definition.name));
    if !definition.description.is_empty() {
        let _ = writeln!(text, "\n{}", plain(&definition.description));
    }
    let is_enum = definition.forms.len() > 1;
    for form in &definition.forms {
        if is_enum || form.fields.is_empty() {
            let colon = if form.description.is_empty() { "" } else { ": " };
            let _ = writeln!(text, "\n- {}{colon}{}", plain(&form.kind), plain(&form.description));
        }
        table(text, "field", &form.fields);
    }
}

fn table(text: &mut String, noun: &str, fields: &[DocField]) {
    if !fields.is_empty() {
        let _ = writeln!(text, "\n| {noun} | type | | description |\n|---|---|---|---|");
    }
    for field in fields {
        let need = match &field.need {
            FieldNeed::Required => "required".to_owned(),
            FieldNeed::Optional => "optional".to_owned(),
            FieldNeed::Default(value) => format!("default {}", code(value)),
        };
        let cells = [code(&field.name), plain(&field.kind), need, plain(&field.description)].map(|text| cell(&text));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Returns the anchor that GitHub gives to a heading.
fn anchor(name: &str) -> String {
    name.to_lowercase().chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// Formats text as code, with more backquotes than it contains in a row.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let quotes = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{quotes}{space}{text}{space}{quotes}")
}

/// Escapes text that would be parsed as HTML; descriptions are Markdown. A backquote behind a backslash is literal.
fn plain(text: &str) -> String {
    let (mut in_code, mut after_backslash) = (false, false);
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        in_code ^= c == '`' && (in_code || !after_backslash);
        if c == '<' && !in_code && !after_backslash {
            escaped.push('\\');
        }
        after_backslash = c == '\\' && !after_backslash;
        escaped.push(c);
    }
    escaped
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").lines().collect::<Vec<_>>().join("<br>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_backquotes_and_html() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(plain("a <b> `<c>` <d>"), "a \\<b> `<c>` \\<d>");
        assert_eq!(plain(r"a \` <b> \` <c>"), r"a \` \<b> \` \<c>");
    }
}
