//! The tools in each provider's form.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_runtime::dialect::{Dialect, DialectForm, LossFinding, LossLevel};
use tool_runtime::{Dispatcher, Selection};

use super::{Api, tools::unknown};
use crate::Problem;
use crate::extract::{Asked, Name};

/// In which form.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FormQuery {
    /// Whether the provider is asked to enforce the schemas.
    strict: bool,
    /// This tool only.
    tool: Option<String>,
}

/// Whose forms there are.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DialectList {
    /// Their names.
    dialects: Vec<&'static str>,
}

/// The tools in a provider's form.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DialectDefinitions")]
pub(crate) struct Definitions {
    /// Whose form it is.
    dialect: &'static str,
    /// Whether the provider is asked to enforce the schemas.
    strict: bool,
    /// What goes under `tools` in a request.
    definitions: Value,
    /// What the form cannot say of them, and which limits they exceed.
    report: Vec<Found>,
}

/// Something that a provider's form cannot say.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub(crate) struct Found {
    /// How much it matters: `note`, `loss` or `limit`.
    level: &'static str,
    /// What it is, in a word.
    kind: &'static str,
    /// Which tool it concerns; empty for all.
    tool: String,
    /// Where in its arguments; empty for the whole tool.
    path: String,
    /// What is the matter, after the name of the tool.
    message: String,
    /// What can be done.
    remedy: String,
}

impl From<LossFinding> for Found {
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
    State(api): Api,
    Name(name): Name,
    Asked(query): Asked<FormQuery>,
) -> Result<Json<Definitions>, Problem> {
    let dialect: Dialect = name.parse().map_err(|error: tool_runtime::dialect::UnknownDialect| {
        Problem::new(StatusCode::NOT_FOUND, "unknown_dialect", format!("{error}."))
    })?;
    let form = DialectForm { dialect, strict: query.strict };
    let tools = match &query.tool {
        None => api.tools.clone(),
        Some(tool) => only(&api.tools, tool)?,
    };
    let offer = tools.offer(form).map_err(|clash| {
        let detail = format!("{clash}: rename one of them, or ask with `?tool=..`.");
        Problem::new(StatusCode::CONFLICT, "name_clash", detail)
    })?;
    let report = tools.report(form).findings.into_iter().map(Found::from).collect();
    let definitions = offer.definitions().clone();
    Ok(Json(Definitions { dialect: dialect.name(), strict: query.strict, definitions, report }))
}

fn only(tools: &Dispatcher, name: &str) -> Result<Dispatcher, Problem> {
    tools.definition(name).ok_or_else(|| unknown(name))?;
    tools.select(Selection::new().names([name])).map_err(|_| unknown(name))
}
