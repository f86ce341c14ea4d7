//! Calls that wait for somebody's consent, and what they say.
//!
//! A token is sent in the body, never in a path: whoever has it can have the call run, and paths are logged.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_runtime::confirm::{Deferred, PendingApproval, PendingCall, TokenError};
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use super::Api;
use super::call::{Prepared, respond, to_the_end};
use crate::Problem;
use crate::api::Shared;
use crate::extract::{Asked, Nothing};

/// Whose calls.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PendingQuery {
    /// Those of this conversation; without it, all that whoever asks may see.
    #[serde(default)]
    conversation: Option<String>,
}

/// The calls that wait.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PendingList {
    pending: Vec<Waiting>,
}

/// A call that waits for somebody's consent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PendingCall")]
pub(crate) struct Waiting {
    /// Whoever has it can have the call run: show it to the person who decides, and not to a model.
    token: String,
    /// When it is too late to answer, in milliseconds since 1970.
    expires: u64,
    /// The tool.
    tool: String,
    /// What the tool does.
    description: String,
    /// Whether it destroys something that cannot be had back.
    destructive: bool,
    /// The arguments as they will run, with `"***"` in place of each secret.
    arguments: Value,
    /// The arguments as a text to edit, with a mark in place of each secret.
    edit: String,
    /// The id of the call.
    call_id: Option<String>,
    /// The conversation of the call.
    conversation: Option<String>,
    /// What was mended in the arguments.
    repairs: Vec<Value>,
    /// What the call would do, if the tool can tell.
    preview: Option<Value>,
}

impl Waiting {
    fn of((pending, call): (PendingApproval, PendingCall)) -> Self {
        let question = call.question;
        let expires = pending.expires.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            token: pending.token,
            expires: u64::try_from(expires.as_millis()).unwrap_or(u64::MAX),
            arguments: question.shown(),
            edit: question.to_edit(),
            description: question.definition.description.clone(),
            destructive: question.definition.destructive,
            tool: question.tool,
            call_id: question.call_id,
            conversation: question.conversation,
            repairs: question.repairs,
            preview: question.preview,
        }
    }
}

/// Consent to a call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approval {
    /// The token of the call.
    token: String,
    /// Other arguments that are to run instead, as text: `edit` of the call, as somebody has changed it.
    #[serde(default)]
    edited: Option<String>,
}

/// A refusal of a call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refusal {
    /// The token of the call.
    token: String,
    /// Why. The model reads it.
    #[serde(default)]
    reason: Option<String>,
}

/// A refusal of a call and of all others.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Abort {
    /// The token of the call.
    token: String,
}

pub(crate) async fn list(
    State(api): Api,
    parts: Parts,
    Asked(query): Asked<PendingQuery>,
) -> Result<Json<PendingList>, Problem> {
    let (deferred, now) = (deferred(&api)?, SystemTime::now());
    let waiting = match api.conversation(&parts, query.conversation.as_deref())? {
        Some(conversation) => deferred.waiting(&conversation, now).await,
        None => deferred.all_waiting(now).await,
    };
    let waiting = waiting.map_err(refused)?;
    Ok(Json(PendingList { pending: waiting.into_iter().map(Waiting::of).collect() }))
}

/// Runs a call that waits. Its token is used up by that, so it runs to its end also if the client goes away: nobody could
/// approve it again.
pub(crate) async fn approve(State(api): Api, _: Asked<Nothing>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let prepared = Prepared::of(&api, &parts, None).await?;
    let Approval { token, edited } = api.body.json(&parts.headers, body).await?;
    respond(&parts.headers, move |progress| {
        to_the_end(async move {
            let run = |question: tool_runtime::confirm::Question| {
                let tools = &api.tools;
                async move {
                    let arguments = match edited.map(|text| question.edited(&text)) {
                        None => question.arguments.clone(),
                        Some(Ok(arguments)) => arguments,
                        Some(Err(error)) => return wrong_edit(&error),
                    };
                    prepared.prepare(tools.approve_with(question, arguments), progress).await
                }
            };
            deferred(&api)?.resume(&token, SystemTime::now(), run).await.map_err(refused)
        })
    })
    .await
}

pub(crate) async fn refuse(State(api): Api, _: Asked<Nothing>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let Refusal { token, reason } = api.body.json(&parts.headers, body).await?;
    let result = to_the_end(async move {
        let call = deferred(&api)?.redeem(&token, SystemTime::now()).await.map_err(refused)?;
        Ok(api.tools.refuse(&call.question, reason.as_deref()).await)
    });
    Ok(said(&result.await?))
}

/// Refuses a call and whatever else of its conversation waits.
pub(crate) async fn abort(State(api): Api, _: Asked<Nothing>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let Abort { token } = api.body.json(&parts.headers, body).await?;
    Ok(said(&to_the_end(async move { abort_all(&api, &token).await }).await?))
}

async fn abort_all(api: &Shared, token: &str) -> Result<ToolResult, Problem> {
    let (deferred, now) = (deferred(api)?, SystemTime::now());
    let call = deferred.redeem(token, now).await.map_err(refused)?;
    // First of all: its token is used up, and nobody can ask again.
    let result = api.tools.abort(&call.question).await;
    if let Some(conversation) = &call.question.conversation {
        let others = deferred.waiting(conversation, now).await.unwrap_or_else(|error| {
            tracing::warn!(%error, conversation, "the other calls that wait could not be aborted");
            Vec::new()
        });
        for (other, _) in others {
            // Somebody may have answered it meanwhile.
            if let Ok(other) = deferred.redeem(&other.token, now).await {
                api.tools.abort(&other.question).await;
            }
        }
    }
    Ok(result)
}

fn deferred(api: &Shared) -> Result<&Deferred, Problem> {
    api.pending.as_ref().ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "path", "No calls wait here."))
}

/// The answer to the call, which is what was asked for: the request to refuse it went well.
fn said(result: &ToolResult) -> Response {
    Json(result).into_response()
}

fn wrong_edit(error: &tool_runtime::confirm::EditError) -> ToolResult {
    ToolResult::failure(ToolError::new(
        ErrorKind::InvalidArguments,
        format!("The edited arguments are wrong: {error}."),
    ))
    .not_started()
}

fn refused(error: TokenError) -> Problem {
    let (status, kind, detail) = match error {
        TokenError::Expired => (StatusCode::GONE, "expired", "It is too late to answer: have the call made again."),
        TokenError::Unavailable => {
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable", "The calls that wait cannot be looked up now: try again.")
        }
        _ => (StatusCode::NOT_FOUND, "token", "No call waits for this token: it was answered, or is not what it was."),
    };
    Problem::new(status, kind, detail)
}
