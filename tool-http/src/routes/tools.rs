//! `GET /tools`: lists and describes tools.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tool_model::{KEYS, Key, KeyKind};
use tool_runtime::ToolDefinition;
use tool_runtime::display::excerpt;

use super::SharedState;
use crate::Problem;
use crate::extract::{PathName, QueryParams};

/// Query parameters of the list.
///
/// Besides these fields, each flag of [`KEYS`] is a parameter: `?read_only=true`.
#[derive(Default)]
pub(crate) struct ToolQuery {
    search: Option<String>,
    tags: Option<String>,
    category: Option<String>,
    limit: Option<usize>,
    flags: Vec<(&'static Key, bool)>,
}

impl<'de> Deserialize<'de> for ToolQuery {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        static KNOWN: LazyLock<Vec<&'static str>> =
            LazyLock::new(|| parameters().into_iter().map(|(name, _)| name).collect());
        let mut query = Self::default();
        for (name, value) in Vec::<(String, String)>::deserialize(deserializer)? {
            match name.as_str() {
                "search" => query.search = Some(value),
                "tags" => query.tags = Some(value),
                "category" => query.category = Some(value),
                "limit" => query.limit = Some(value.parse().map_err(|_| wrong(&name, "a number"))?),
                name => match flag_keys().find(|key| key.name == name) {
                    Some(key) => query.flags.push((key, value.parse().map_err(|_| wrong(name, "`true` or `false`"))?)),
                    None => return Err(D::Error::unknown_field(name, &KNOWN)),
                },
            }
        }
        Ok(query)
    }
}

fn wrong<E: Error>(name: &str, expected: &str) -> E {
    E::custom(format!("`{name}` must be {expected}"))
}

fn flag_keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| key.kind == KeyKind::Flag)
}

/// Returns the query parameters with their schemas.
fn parameters() -> Vec<(&'static str, Value)> {
    let fixed = [
        ("search", json!({"type": "string", "description": "Only tools that match these words, best matches first."})),
        ("tags", json!({"type": "string", "description": "Only tools with all of these tags, separated by commas."})),
        ("category", json!({"type": "string", "description": "Only tools of this category."})),
        ("limit", json!({"type": "integer", "minimum": 0, "description": "Maximum number of tools."})),
    ];
    let flag = |key: &'static Key| {
        let description = format!("Only tools with this flag, or without it. {}", key.about);
        (key.name, json!({"type": "boolean", "description": description}))
    };
    fixed.into_iter().chain(flag_keys().map(flag)).collect()
}

impl JsonSchema for ToolQuery {
    fn schema_name() -> Cow<'static, str> {
        "ToolQuery".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let properties: Map<String, Value> =
            parameters().into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        json_schema!({"type": "object", "properties": properties})
    }
}

impl ToolQuery {
    fn matches(&self, tool: &ToolDefinition) -> bool {
        let mut tags = self.tags.iter().flat_map(|tags| tags.split(',')).map(str::trim).filter(|tag| !tag.is_empty());
        tags.all(|wanted| tool.tags.iter().any(|tag| tag == wanted))
            && self.category.as_ref().is_none_or(|wanted| tool.category.as_ref() == Some(wanted))
            && self.flags.iter().all(|(key, wanted)| key.is_on(tool) == *wanted)
    }
}

/// The tools that match a query.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolList {
    /// The tools, sorted by name, or by relevance for a search.
    tools: Vec<ToolSummary>,
    /// The number of all tools.
    offered: usize,
}

/// A summary of a tool.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolSummary {
    /// The name of the tool.
    name: Arc<str>,
    /// The description of the tool.
    description: String,
    #[serde(flatten)]
    keys: SummaryKeys,
}

impl ToolSummary {
    fn new(name: Arc<str>, tool: &ToolDefinition) -> Self {
        Self { name, description: tool.description.clone(), keys: SummaryKeys::new(tool) }
    }
}

/// The keys of a tool, except those with long texts and aliases. Flags and lists are always present, others if they are set.
#[derive(Serialize)]
#[serde(transparent)]
struct SummaryKeys(Map<String, Value>);

impl SummaryKeys {
    fn keys() -> impl Iterator<Item = &'static Key> {
        KEYS.iter().filter(|key| !key.is_wording && key.kind != KeyKind::Names)
    }

    fn new(tool: &ToolDefinition) -> Self {
        let value = |key: &Key| match key.kind {
            KeyKind::Flag => Some(key.is_on(tool).into()),
            KeyKind::Words => Some(key.get(tool).unwrap_or_else(|| json!([]))),
            _ => key.get(tool),
        };
        Self(Self::keys().filter_map(|key| Some((key.manifest.to_owned(), value(key)?))).collect())
    }
}

impl JsonSchema for SummaryKeys {
    fn schema_name() -> Cow<'static, str> {
        "ToolKeys".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let property = |key: &Key| {
            let mut schema = key.kind.schema();
            schema["description"] = key.about.into();
            (key.manifest.to_owned(), schema)
        };
        let properties: Map<String, Value> = Self::keys().map(property).collect();
        let always = Self::keys().filter(|key| matches!(key.kind, KeyKind::Flag | KeyKind::Words));
        let required: Vec<&str> = always.map(|key| key.manifest).collect();
        json_schema!({"type": "object", "properties": properties, "required": required})
    }
}

/// A tool with its schemas.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolInFull")]
pub(crate) struct ToolDetails {
    #[serde(flatten)]
    summary: ToolSummary,
    /// The JSON Schema of the arguments.
    parameters: Value,
    /// The JSON Schema of the result, if it is an object or an array.
    returns: Option<Value>,
    /// Additional instructions for a system prompt.
    instructions: Option<String>,
}

pub(crate) async fn list(State(api): SharedState, QueryParams(query): QueryParams<ToolQuery>) -> Json<ToolList> {
    let definitions = api.tools.definitions();
    let limit = query.limit.unwrap_or(usize::MAX);
    let found: Vec<(Arc<str>, Arc<ToolDefinition>)> = match &query.search {
        None => definitions.to_vec(),
        Some(words) => {
            let found = api.tools.search(words, definitions.len());
            found.into_iter().map(|found| (found.name, found.definition)).collect()
        }
    };
    let fitting = found.into_iter().filter(|(_, tool)| query.matches(tool)).take(limit);
    let tools = fitting.map(|(name, tool)| ToolSummary::new(name, &tool)).collect();
    Json(ToolList { tools, offered: definitions.len() })
}

pub(crate) async fn show(State(api): SharedState, PathName(name): PathName) -> Result<Json<ToolDetails>, Problem> {
    let found = api.tools.resolve(&name).and_then(|name| Some((api.tools.definition(&name)?, name)));
    let (tool, name) = found.ok_or_else(|| unknown_tool(&name))?;
    Ok(Json(ToolDetails {
        summary: ToolSummary::new(name, &tool),
        parameters: tool.parameters(),
        returns: tool.returns.clone(),
        instructions: tool.instructions.clone(),
    }))
}

pub(super) fn unknown_tool(name: &str) -> Problem {
    let detail = format!("There is no tool `{}`: `GET /tools` lists the tools.", excerpt(name));
    Problem::new(StatusCode::NOT_FOUND, "unknown_tool", detail)
}
