//! The catalogue as Markdown.

use std::fmt::Write;

use tool_model::validate::describe;
use tool_model::{Manifest, ToolDefinition, canonical, estimate_tokens};

use crate::cli::show::short;
use crate::cli::terminal::count;

pub(super) fn page(title: &str, manifest: &Manifest) -> String {
    let tokens: usize = manifest.iter().map(|(name, tool)| estimate_tokens(name, tool)).sum();
    let mut text = format!("# {}\n\n{}, about {tokens} tokens.\n", plain(title), count(manifest.len(), "tool"));
    if !manifest.is_empty() {
        text.push('\n');
    }
    for (name, tool) in manifest.iter() {
        let _ = writeln!(text, "- [`{name}`](#{}): {}", anchor(name), plain(first_line(&tool.description)));
    }
    manifest.iter().for_each(|(name, tool)| section(&mut text, name, tool));
    text
}

fn section(text: &mut String, name: &str, tool: &ToolDefinition) {
    let _ = writeln!(text, "\n## {name}\n\n{}", plain(&tool.description));
    let flags = short::flags(tool);
    if !flags.is_empty() {
        let _ = writeln!(text, "\n**{}**", flags.join(", "));
    }
    if let Some(instructions) = &tool.instructions {
        let _ = writeln!(text, "\n{}", plain(instructions));
    }
    if !tool.arguments.is_empty() {
        let _ = writeln!(text, "\n| argument | type | | description |\n|---|---|---|---|");
    }
    for (name, argument) in &tool.arguments {
        let need = match argument.keywords.get("default") {
            _ if argument.required => "required".to_owned(),
            Some(default) => format!("default `{}`", canonical(default)),
            None => "optional".to_owned(),
        };
        let kind = describe(&argument.schema(), &tool.defs);
        let description = argument.description.as_deref().unwrap_or_default();
        let _ = writeln!(text, "| `{name}` | {} | {} | {} |", cell(&kind), cell(&need), cell(description));
    }
    if let Some(returns) = &tool.returns {
        let _ = writeln!(text, "\nReturns {}.", plain(&describe(returns, &tool.defs)));
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// As GitHub names headings.
fn anchor(name: &str) -> String {
    name.to_lowercase().chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// Descriptions are Markdown by habit; what would be taken for HTML is not.
fn plain(text: &str) -> String {
    let mut in_code = false;
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        in_code ^= c == '`';
        if c == '<' && !in_code {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|").lines().collect::<Vec<_>>().join("<br>")
}
