//! The commands `tools show` and `tools explain`.

use serde_json::json;
use tool_model::validate::describe;
use tool_model::{Argument, ToolDefinition, canonical, estimate_tokens, flags};

use super::command::{ReportFormat, ShowCommand};
use super::{CommandReport, Result, escaped, json, unknown};
use crate::Dispatcher;

pub(super) fn run(tools: &Dispatcher, command: &ShowCommand) -> Result<CommandReport> {
    let name = command.name.as_str();
    let tool = tools.definition(name).ok_or_else(|| unknown(tools, name))?;
    match command.format {
        ReportFormat::Json => json(&json!({"name": name, "tokens": estimate_tokens(name, &tool), "definition": *tool}))
            .map(CommandReport::out),
        ReportFormat::Text => Ok(CommandReport::out(escaped(&to_text(name, &tool)))),
    }
}

/// Explains where all tools or one of them come from.
pub(super) fn explain(tools: &Dispatcher, name: Option<&str>) -> Result<CommandReport> {
    let explanation = tools.explain();
    let Some(name) = name else { return Ok(CommandReport::out(escaped(&explanation.to_string()))) };
    let tool = explanation.tools.iter().find(|tool| tool.name == name).ok_or_else(|| unknown(tools, name))?;
    Ok(CommandReport::out(escaped(&format!("{tool}\n"))))
}

fn to_text(name: &str, tool: &ToolDefinition) -> String {
    let mut text = format!("{name}\n");
    let mut paragraph = |title: &str, words: &str| {
        if !words.trim().is_empty() {
            let lines: Vec<String> = words.trim().lines().map(|line| format!("  {}", line.trim_end())).collect();
            text.push_str(&format!("{title}{}\n", lines.join("\n")));
        }
    };
    paragraph("", &tool.full_description());
    paragraph("\nInstructions\n", tool.instructions.as_deref().unwrap_or_default());
    let (required, optional): (Vec<_>, Vec<_>) = tool.arguments.iter().partition(|(_, argument)| argument.required);
    let arguments = required.into_iter().chain(optional).map(|(name, argument)| argument_lines(name, argument, tool));
    paragraph("\nArguments\n", &arguments.collect::<String>());
    paragraph("\nReturns\n", &tool.returns.as_ref().map(|schema| describe(schema, &tool.defs)).unwrap_or_default());
    let about = [
        ("handler", Some(tool.handler.clone())),
        ("category", tool.category.clone()),
        ("tags", Some(tool.tags.join(", "))),
        ("flags", Some(flags(tool).join(", "))),
        ("tokens", Some(format!("about {}", estimate_tokens(name, tool)))),
    ];
    let about = about.into_iter().filter_map(|(key, value)| Some((key, value.filter(|value| !value.is_empty())?)));
    paragraph("\nAbout\n", &about.map(|(key, value)| format!("{key:<9}{value}\n")).collect::<String>());
    text
}

fn argument_lines(name: &str, argument: &Argument, tool: &ToolDefinition) -> String {
    let mut facts = vec![describe(&argument.schema(), &tool.defs)];
    facts.extend((!argument.required).then(|| "optional".to_owned()));
    facts.extend(argument.keywords.get("default").map(|value| format!("default {}", canonical(value))));
    facts.extend(argument.is_secret().then(|| "secret".to_owned()));
    let description = argument.description.iter().flat_map(|text| text.lines()).map(|line| format!("    {line}\n"));
    format!("{name}: {}\n{}", facts.join(", "), description.collect::<String>())
}
