//! `tools list`

use std::sync::Arc;

use serde_json::json;
use tool_model::{ToolDefinition, brief_arguments, estimate_tokens, flags};

use super::command::{Format, List};
use super::{Report, Result, json, shown};
use crate::{Dispatcher, Selection};

type Tool = (Arc<str>, Arc<ToolDefinition>);

pub(super) fn run(tools: &Dispatcher, command: &List) -> Result<Report> {
    let mut selection = Selection::new().tags(&command.tag);
    if let Some(category) = &command.category {
        selection = selection.category(category);
    }
    if let Some(glob) = &command.glob {
        selection = selection.name_glob(glob);
    }
    let tools = tools.select(selection).map_err(|error| error.to_string())?;
    let listed: Vec<Tool> = match &command.search {
        None => tools.definitions().to_vec(),
        Some(words) => {
            tools.search(words, usize::MAX).into_iter().map(|found| (found.name, found.definition)).collect()
        }
    };
    match command.format {
        Format::Json => json(&listed.iter().map(in_json).collect::<Vec<_>>()).map(Report::out),
        Format::Text => Ok(Report::out(shown(&in_words(&listed)))),
    }
}

fn in_json((name, tool): &Tool) -> serde_json::Value {
    json!({"name": name, "tokens": estimate_tokens(name, tool), "definition": tool})
}

fn in_words(tools: &[Tool]) -> String {
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
