//! `GET /dialects`: tool definitions in a model provider's format.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_runtime::dialect::{Dialect, DialectForm, LossFinding, LossLevel};
use tool_runtime::{Dispatcher, Selection};

use super::{SharedState, tools::unknown_tool};
use crate::Problem;
use crate::extract::{PathName, QueryParams};

/// Query parameters of a dialect.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FormQuery {
    /// `true` if the model provider enforces the schemas (strict mode).
    strict: bool,
    /// Returns only this tool.
    tool: Option<String>,
}

/// The list of dialects.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DialectList {
    /// Their names.
    dialects: Vec<&'static str>,
}

/// The tool definitions in a dialect.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DialectDefinitions {
    /// The name of the dialect.
    dialect: &'static str,
    /// `true` if the model provider enforces the schemas (strict mode).
    strict: bool,
    /// The value for `tools` in a request to the model provider.
    definitions: Value,
    /// The loss report: what the dialect cannot express, and the limits that the tools exceed.
    report: Vec<FindingBody>,
}

/// A finding of the loss report.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub(crate) struct FindingBody {
    /// The severity: `note`, `loss` or `limit`.
    level: &'static str,
    /// The machine-readable kind of finding.
    kind: &'static str,
    /// The affected tool; empty for all.
    tool: String,
    /// The path of the argument; empty for the whole tool.
    path: String,
    /// The message, to be read after the name of the tool.
    message: String,
    /// The suggested fix.
    remedy: String,
}

impl From<LossFinding> for FindingBody {
    fn from(finding: LossFinding) -> Self {
        let level = match finding.level {
            LossLevel::Note => "note",
            LossLevel::Loss => "loss",
            _ => "limit",
        };
        let LossFinding { kind, tool, path, message, remedy, .. } = finding;
        Self { level, kind, tool, path, message, remedy }
    }
}

pub(crate) async fn list() -> Json<DialectList> {
    Json(DialectList { dialects: Dialect::ALL.into_iter().map(Dialect::name).collect() })
}

pub(crate) async fn show(
    State(api): SharedState,
    PathName(name): PathName,
    QueryParams(query): QueryParams<FormQuery>,
) -> Result<Json<DialectDefinitions>, Problem> {
    let dialect: Dialect = name.parse().map_err(|error: tool_runtime::dialect::UnknownDialect| {
        Problem::new(StatusCode::NOT_FOUND, "unknown_dialect", format!("{error}."))
    })?;
    let form = DialectForm { dialect, strict: query.strict };
    let tools = match &query.tool {
        None => api.tools.clone(),
        Some(tool) => only(&api.tools, tool)?,
    };
    let offer = tools.offer(form).map_err(|clash| {
        let detail = format!("{clash}: rename one of them, or select one with `?tool=..`.");
        Problem::new(StatusCode::CONFLICT, "name_clash", detail)
    })?;
    let report = tools.report(form).findings.into_iter().map(FindingBody::from).collect();
    let definitions = offer.definitions().clone();
    Ok(Json(DialectDefinitions { dialect: dialect.name(), strict: query.strict, definitions, report }))
}

fn only(tools: &Dispatcher, name: &str) -> Result<Dispatcher, Problem> {
    let own = tools.resolve(name).ok_or_else(|| unknown_tool(name))?;
    tools.select(Selection::new().names([&*own])).map_err(|_| unknown_tool(name))
}
