//! The command `tools list`.

use std::sync::Arc;

use serde_json::json;
use tool_model::{ToolDefinition, brief_arguments, estimate_tokens, flags};

use super::command::{ListCommand, ReportFormat};
use super::{CommandReport, Result, escaped, json};
use crate::{Dispatcher, Selection};

type NamedTool = (Arc<str>, Arc<ToolDefinition>);

pub(super) fn run(tools: &Dispatcher, command: &ListCommand) -> Result<CommandReport> {
    let mut selection = Selection::new().tags(&command.tag);
    if let Some(category) = &command.category {
        selection = selection.category(category);
    }
    if let Some(glob) = &command.glob {
        selection = selection.name_glob(glob);
    }
    let tools = tools.select(selection).map_err(|error| error.to_string())?;
    let listed: Vec<NamedTool> = match &command.search {
        None => tools.definitions().to_vec(),
        Some(query) => tools.search(query, usize::MAX).into_iter().map(|hit| (hit.name, hit.definition)).collect(),
    };
    match command.format {
        ReportFormat::Json => json(&listed.iter().map(to_json).collect::<Vec<_>>()).map(CommandReport::out),
        ReportFormat::Text => Ok(CommandReport::out(escaped(&to_text(&listed)))),
    }
}

fn to_json((name, tool): &NamedTool) -> serde_json::Value {
    json!({"name": name, "tokens": estimate_tokens(name, tool), "definition": tool})
}

fn to_text(tools: &[NamedTool]) -> String {
    if tools.is_empty() {
        return "No tools.\n".to_owned();
    }
    let mut text = String::new();
    for (name, tool) in tools {
        let flags = flags(tool).join(", ");
        let flags = if flags.is_empty() { flags } else { format!("  [{flags}]") };
        let description = tool.description.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&format!("{name}({}){flags}\n", brief_arguments(tool).join(", ")));
        if !description.is_empty() {
            text.push_str(&format!("    {description}\n"));
        }
    }
    let tokens: usize = tools.iter().map(|(name, tool)| estimate_tokens(name, tool)).sum();
    let noun = if tools.len() == 1 { "tool" } else { "tools" };
    text + &format!("\n{} {noun}, about {tokens} tokens\n", tools.len())
}
