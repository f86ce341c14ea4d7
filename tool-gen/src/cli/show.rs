//! `tool-gen show`

use std::fmt::Write;

use anstyle::Style;
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use tool_model::validate::describe;
use tool_model::{Manifest, ToolDefinition, brief_arguments, canonical, estimate_tokens, flags, nearest, to_pretty};

use super::arguments::{OutputFormat, ToolSource};
use super::exit::{CommandFailure, ExitStatus, Result};
use super::report::{self, JsonDiagnostic};
use super::scanning::LoadedTools;
use super::terminal::{BOLD, CYAN, DIM, YELLOW, count, print, print_json, styled, width};
use super::wrap::{NO_BREAK, TableColumn, table, wrap_text};

const EXAMPLES: &str = "\
Examples:
  tool-gen show
  tool-gen show metrics.newest
  tool-gen show --from deployed/tools_calls.json --format json

With `--format json`:
  {\"tools\": [{\"name\", \"tokens\": COUNT, \"definition\": TOOL}], \"tokens\": COUNT, \"diagnostics\": [DIAGNOSTIC]}
  where TOOL is the tool as in tools_calls.json";

/// The result for `--format json`.
#[derive(Serialize)]
struct JsonCatalogue<'a> {
    tools: Vec<JsonTool<'a>>,
    tokens: usize,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

/// Show all tools in a table, or one in detail
///
/// Tokens are an estimate of the context that a tool takes each time it is offered to a model.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct ShowToolsCommand {
    /// The tool to show in detail
    name: Option<String>,

    #[command(flatten)]
    source: ToolSource,
}

#[derive(Serialize)]
struct JsonTool<'a> {
    name: &'a str,
    tokens: usize,
    definition: &'a ToolDefinition,
}

impl ShowToolsCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        let tools = LoadedTools::read(&self.source, format, "nothing was shown")?;
        let one = self.name.as_deref().map(|name| find(name, &tools.manifest)).transpose()?;
        match (format, one) {
            (OutputFormat::Json, one) => print_json(&json(&tools, one))?,
            (OutputFormat::Text, Some((name, tool))) => print(&detail(name, tool, width()))?,
            (OutputFormat::Text, None) => print(&catalogue(&tools.manifest, width()))?,
        }
        Ok(ExitStatus::Fine)
    }
}

/// A schema with sorted keys.
struct SortedSchema<'a>(&'a Value);

impl serde::Serialize for SortedSchema<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let sorted: std::collections::BTreeMap<_, _> = map.iter().map(|(k, v)| (k, SortedSchema(v))).collect();
                sorted.serialize(serializer)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(SortedSchema)),
            other => other.serialize(serializer),
        }
    }
}

fn json<'a>(tools: &'a LoadedTools, one: Option<(&'a str, &'a ToolDefinition)>) -> JsonCatalogue<'a> {
    let shown = tools.manifest.iter().filter(|(name, _)| one.is_none_or(|(only, _)| only == *name));
    let shown: Vec<_> =
        shown.map(|(name, tool)| JsonTool { name, tokens: estimate_tokens(name, tool), definition: tool }).collect();
    JsonCatalogue {
        tokens: shown.iter().map(|tool| tool.tokens).sum(),
        tools: shown,
        diagnostics: report::json(&tools.diagnostics),
    }
}

fn find<'m>(name: &str, manifest: &'m Manifest) -> Result<(&'m str, &'m ToolDefinition)> {
    let by_name = manifest.iter().find(|(known, _)| *known == name);
    let by_alias = || manifest.iter().find(|(_, tool)| tool.aliases.iter().any(|alias| alias == name));
    by_name.or_else(by_alias).ok_or_else(|| {
        let near = nearest(name, manifest.iter().map(|(name, _)| name));
        let near: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
        let failure = CommandFailure::new(format!("no tool named `{name}`"));
        match near.as_slice() {
            [] => failure.help("`tool-gen show` lists all tools"),
            near => failure.help(format!("did you mean {}?", near.join(" or "))),
        }
    })
}

/// Renders all tools as a table.
fn catalogue(manifest: &Manifest, width: usize) -> String {
    if manifest.is_empty() {
        return format!("No tools. {}\n", styled(DIM, "Add `#[tool]` or `#[tool_class]` to your code."));
    }
    let mut total = 0;
    let rows: Vec<Vec<String>> = manifest
        .iter()
        .map(|(name, tool)| {
            let tokens = estimate_tokens(name, tool);
            total += tokens;
            vec![name.to_owned(), signature(tool), flags(tool).join(" "), tokens.to_string()]
        })
        .collect();
    let column = |title, style, right, gives, least| TableColumn { title, style, right, gives, least };
    let mut columns = vec![
        column("TOOL", BOLD, false, 2, 14),
        column("ARGUMENTS", Style::new(), false, 3, 20),
        column("FLAGS", YELLOW, false, 8, 11),
        column("TOKENS", DIM, true, 0, 6),
    ];
    let mut rows = rows;
    // Empty columns are removed.
    for index in [2, 1] {
        if rows.iter().all(|row| row[index].is_empty()) {
            columns.remove(index);
            rows.iter_mut().for_each(|row| drop(row.remove(index)));
        }
    }
    let summary = format!("{}, about {total} tokens", count(manifest.len(), "tool"));
    format!("{}\n{}\n", table(&columns, &rows, width), styled(BOLD, summary))
}

/// Returns the arguments, without line breaks inside of one.
fn signature(tool: &ToolDefinition) -> String {
    let each = brief_arguments(tool).into_iter().map(|argument| argument.replace(' ', NO_BREAK));
    each.collect::<Vec<_>>().join(", ")
}

/// Renders one tool in detail.
fn detail(name: &str, tool: &ToolDefinition, width: usize) -> String {
    let mut text = format!("{}\n", styled(BOLD, name));
    paragraph(&mut text, &tool.full_description(), "  ", width);
    if let Some(instructions) = &tool.instructions {
        section(&mut text, "Instructions");
        paragraph(&mut text, instructions, "  ", width);
    }
    arguments(&mut text, tool, width);
    if let Some(returns) = &tool.returns {
        section(&mut text, "Returns");
        paragraph(&mut text, &describe(returns, &tool.defs), "  ", width);
    }
    facts(&mut text, name, tool);
    if !tool.defs.is_empty() {
        section(&mut text, "Definitions");
        for (name, def) in &tool.defs {
            let shown = to_pretty(&SortedSchema(def)).trim_end().replace('\n', "\n  ");
            let _ = writeln!(text, "  {}\n  {shown}", styled(CYAN, name));
        }
    }
    text
}

fn arguments(text: &mut String, tool: &ToolDefinition, width: usize) {
    if tool.arguments.is_empty() {
        return;
    }
    section(text, "Arguments");
    let (required, optional): (Vec<_>, Vec<_>) = tool.arguments.iter().partition(|(_, argument)| argument.required);
    for (name, argument) in required.into_iter().chain(optional) {
        let mut facts = vec![if argument.required { "required".to_owned() } else { "optional".to_owned() }];
        facts.extend(argument.keywords.get("default").map(|value| format!("default {}", canonical(value))));
        facts.extend(argument.is_secret().then(|| "secret".to_owned()));
        facts.extend((!argument.aliases.is_empty()).then(|| format!("also called {}", argument.aliases.join(", "))));
        let _ = writeln!(text, "  {} {}", styled(CYAN, name), styled(DIM, facts.join(", ")));
        paragraph(text, &describe(&argument.schema(), &tool.defs), "    ", width);
        if let Some(description) = &argument.description {
            paragraph(text, description, "    ", width);
        }
    }
}

fn facts(text: &mut String, name: &str, tool: &ToolDefinition) {
    section(text, "About");
    let flags = flags(tool);
    let facts = [
        ("handler", Some(tool.handler.clone())),
        ("aliases", (!tool.aliases.is_empty()).then(|| tool.aliases.join(", "))),
        ("category", tool.category.clone()),
        ("tags", (!tool.tags.is_empty()).then(|| tool.tags.join(", "))),
        ("flags", (!flags.is_empty()).then(|| styled(YELLOW, flags.join(", ")))),
        ("tokens", Some(format!("about {}", estimate_tokens(name, tool)))),
    ];
    for (key, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(text, "  {} {value}", styled(DIM, format_args!("{key:<9}")));
        }
    }
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n{}", styled(BOLD, title));
}

fn paragraph(text: &mut String, words: &str, indent: &str, width: usize) {
    for line in wrap_text(words, width.saturating_sub(indent.len())) {
        let _ = writeln!(text, "{}", format!("{indent}{line}").trim_end());
    }
}
