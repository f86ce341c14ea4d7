//! The tools on offer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_runtime::ToolDefinition;
use tool_runtime::display::escape;

use super::Api;
use crate::Problem;
use crate::extract::{Asked, Name};

/// Which tools.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolQuery {
    /// Those that fit these words, the best first.
    search: Option<String>,
    /// Those that have all of these tags, with commas between them.
    tags: Option<String>,
    /// Those of this category.
    category: Option<String>,
    /// Those that change nothing, or the others.
    read_only: Option<bool>,
    /// Those that need somebody's consent, or the others.
    sensitive: Option<bool>,
    /// So many at most.
    limit: Option<usize>,
}

impl ToolQuery {
    fn fits(&self, tool: &ToolDefinition) -> bool {
        let mut tags = self.tags.iter().flat_map(|tags| tags.split(',')).map(str::trim).filter(|tag| !tag.is_empty());
        tags.all(|wanted| tool.tags.iter().any(|tag| tag == wanted))
            && self.category.as_ref().is_none_or(|wanted| tool.category.as_ref() == Some(wanted))
            && self.read_only.is_none_or(|wanted| tool.read_only == wanted)
            && self.sensitive.is_none_or(|wanted| tool.sensitive == wanted)
    }
}

/// Some of the tools.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolList {
    /// Sorted by name, or by how well they fit the words.
    tools: Vec<ToolSummary>,
    /// How many are on offer.
    offered: usize,
}

/// A tool in short.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolSummary {
    /// Its name.
    name: Arc<str>,
    /// What it does.
    description: String,
    /// A broad group.
    category: Option<String>,
    /// Words to select it by.
    tags: Vec<String>,
    /// Whether somebody is asked before it runs.
    sensitive: bool,
    /// Whether it changes nothing.
    read_only: bool,
    /// Whether it destroys something that cannot be had back.
    destructive: bool,
    /// Whether a second call with the same arguments changes nothing more.
    idempotent: bool,
}

impl ToolSummary {
    fn of(name: Arc<str>, tool: &ToolDefinition) -> Self {
        Self {
            name,
            description: tool.description.clone(),
            category: tool.category.clone(),
            tags: tool.tags.clone(),
            sensitive: tool.sensitive,
            read_only: tool.read_only,
            destructive: tool.destructive,
            idempotent: tool.idempotent,
        }
    }
}

/// A tool in full.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolInFull {
    #[serde(flatten)]
    summary: ToolSummary,
    /// The JSON Schema of its arguments.
    parameters: Value,
    /// The JSON Schema of what it gives back, if that is an object or a list.
    returns: Option<Value>,
    /// What a system prompt may say of it besides.
    instructions: Option<String>,
    /// Whether it must not run beside other calls of the same turn.
    sequential: bool,
    /// How long a call may take, in milliseconds.
    timeout_ms: Option<u64>,
}

pub(crate) async fn list(State(api): Api, Asked(query): Asked<ToolQuery>) -> Json<ToolList> {
    let definitions = api.tools.definitions();
    let limit = query.limit.unwrap_or(usize::MAX);
    let found: Vec<(Arc<str>, Arc<ToolDefinition>)> = match &query.search {
        None => definitions.to_vec(),
        Some(words) => {
            let found = api.tools.search(words, definitions.len());
            found.into_iter().map(|found| (found.name, found.definition)).collect()
        }
    };
    let fitting = found.into_iter().filter(|(_, tool)| query.fits(tool)).take(limit);
    let tools = fitting.map(|(name, tool)| ToolSummary::of(name, &tool)).collect();
    Json(ToolList { tools, offered: definitions.len() })
}

pub(crate) async fn show(State(api): Api, Name(name): Name) -> Result<Json<ToolInFull>, Problem> {
    let tool = api.tools.definition(&name).ok_or_else(|| unknown(&name))?;
    Ok(Json(ToolInFull {
        summary: ToolSummary::of(name.into(), &tool),
        parameters: tool.parameters(),
        returns: tool.returns.clone(),
        instructions: tool.instructions.clone(),
        sequential: tool.sequential,
        timeout_ms: tool.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
    }))
}

pub(super) fn unknown(name: &str) -> Problem {
    let detail = format!("There is no tool `{}`: `GET /tools` lists those on offer.", escape(name));
    Problem::new(StatusCode::NOT_FOUND, "unknown_tool", detail)
}
