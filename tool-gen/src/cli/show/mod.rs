//! `tool-gen show`

mod catalogue;
mod detail;

use clap::Args;
use serde::Serialize;
use tool_model::{Manifest, ToolDefinition, estimate_tokens, nearest};

use super::arguments::{Format, ToolSource};
use super::exit::{Exit, Failure, Result};
use super::report::{self, JsonDiagnostic};
use super::scanning::Tools;
use super::terminal::{print, print_json, width};

/// Show all tools in a table, or one in detail
///
/// Tokens are an estimate of what a tool takes of a model's context each time it is offered.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct Show {
    /// The tool to show in detail
    name: Option<String>,

    #[command(flatten)]
    source: ToolSource,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen show
  tool-gen show metrics.newest
  tool-gen show --from deployed/tools_calls.json --format json

With `--format json`:
  {\"tools\": [{\"name\", \"tokens\": COUNT, \"definition\": TOOL}], \"tokens\": COUNT, \"diagnostics\": [DIAGNOSTIC]}
  where TOOL is the tool as it stands in tools_calls.json";

/// The result as `--format json` shows it.
#[derive(Serialize)]
struct JsonCatalogue<'a> {
    tools: Vec<JsonTool<'a>>,
    tokens: usize,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

#[derive(Serialize)]
struct JsonTool<'a> {
    name: &'a str,
    tokens: usize,
    definition: &'a ToolDefinition,
}

impl Show {
    pub(super) fn run(&self, format: Format) -> Result<Exit> {
        let tools = Tools::read(&self.source, format, "nothing is shown")?;
        let one = self.name.as_deref().map(|name| find(name, &tools.manifest)).transpose()?;
        match (format, one) {
            (Format::Json, one) => print_json(&json(&tools, one))?,
            (Format::Text, Some((name, tool))) => print(&detail::of(name, tool, width()))?,
            (Format::Text, None) => print(&catalogue::of(&tools.manifest, width()))?,
        }
        Ok(Exit::Fine)
    }
}

fn json<'a>(tools: &'a Tools, one: Option<(&'a str, &'a ToolDefinition)>) -> JsonCatalogue<'a> {
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
    manifest.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        let near = nearest(name, manifest.iter().map(|(name, _)| name));
        let near: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
        let failure = Failure::new(format!("there is no tool `{name}`"));
        match near.as_slice() {
            [] => failure.help("`tool-gen show` lists all tools"),
            near => failure.help(format!("did you mean {}?", near.join(" or "))),
        }
    })
}
