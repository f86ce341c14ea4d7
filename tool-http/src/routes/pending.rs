//! `/pending`: lists, approves, refuses and aborts pending calls.
//!
//! Tokens are sent in the body and never in a path, since paths are logged. Without [`Api::conversation`](crate::Api::conversation) a
//! token is sufficient to run its call.

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

use super::SharedState;
use super::call::{CallSetup, respond, run_detached};
use crate::Problem;
use crate::api::ApiState;
use crate::extract::QueryParams;
use crate::response::has_structured_output;

/// Query parameters of the list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PendingQuery {
    /// Only calls of this conversation. If unset, all calls that the caller may see.
    #[serde(default)]
    conversation: Option<String>,
}

/// Query parameters of a decision.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionQuery {
    /// The conversation of the call. A token of another conversation is not found.
    #[serde(default)]
    conversation: Option<String>,
}

/// The pending calls.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PendingList {
    pending: Vec<PendingBody>,
}

/// A call that waits for approval.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PendingCall")]
pub(crate) struct PendingBody {
    /// The token, which is sufficient to run the call. Show it to the user who decides, never to a model.
    token: String,
    /// When the token expires, as Unix time in milliseconds.
    expires: u64,
    /// The name of the tool.
    tool: String,
    /// The description of the tool.
    description: String,
    /// `true` if the tool is destructive.
    destructive: bool,
    /// The arguments that the call runs with. Secrets are replaced by `"***"`.
    arguments: Value,
    /// The arguments as text to edit, with a placeholder for each secret.
    edit: String,
    /// The id of the call.
    call_id: Option<String>,
    /// The conversation of the call.
    conversation: Option<String>,
    /// The repairs of the arguments.
    repairs: Vec<Value>,
    /// The effect that the call would have, if the tool has a preview.
    preview: Option<Value>,
}

impl PendingBody {
    fn new((pending, call): (PendingApproval, PendingCall)) -> Self {
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

/// An approval of a pending call.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Approval")]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalRequest {
    /// The token of the call.
    token: String,
    /// Arguments to use instead: the user's changed version of `edit`.
    #[serde(default)]
    edited: Option<String>,
}

/// A refusal of a pending call.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Refusal")]
#[serde(deny_unknown_fields)]
pub(crate) struct RefusalRequest {
    /// The token of the call.
    token: String,
    /// The reason, which the model reads.
    #[serde(default)]
    reason: Option<String>,
}

/// A refusal of all pending calls of a conversation.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Abort")]
#[serde(deny_unknown_fields)]
pub(crate) struct AbortRequest {
    /// The token of the call.
    token: String,
}

pub(crate) async fn list(
    State(api): SharedState,
    parts: Parts,
    QueryParams(query): QueryParams<PendingQuery>,
) -> Result<Json<PendingList>, Problem> {
    let (deferred, now) = (deferred(&api)?, SystemTime::now());
    let waiting = match api.conversation(&parts, query.conversation.as_deref())? {
        Some(conversation) => deferred.waiting(&conversation, now).await,
        None => deferred.all_waiting(now).await,
    };
    let waiting = waiting.map_err(token_problem)?;
    Ok(Json(PendingList { pending: waiting.into_iter().map(PendingBody::new).collect() }))
}

/// Approves a pending call and runs it. It completes even if the client disconnects: its token is redeemed, so it could
/// not be approved again.
pub(crate) async fn approve(
    State(api): SharedState,
    QueryParams(query): QueryParams<DecisionQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let setup = CallSetup::from_request(&api, &parts, None).await?;
    let ApprovalRequest { token, edited } = api.body.json(&parts.headers, body).await?;
    let pending = find(&api, &parts, &query, &token).await?;
    respond(&parts.headers, has_structured_output(&pending.question.definition), move |progress| {
        run_detached(async move {
            let run = |question: tool_runtime::confirm::Question| {
                let tools = &api.tools;
                async move {
                    let arguments = match edited.map(|text| question.edited(&text)) {
                        None => question.arguments.clone(),
                        Some(Ok(arguments)) => arguments,
                        Some(Err(error)) => return invalid_edit(&error),
                    };
                    setup.apply(tools.approve_with(question, arguments), progress).await
                }
            };
            deferred(&api)?.resume(&token, SystemTime::now(), run).await.map_err(token_problem)
        })
    })
    .await
}

pub(crate) async fn refuse(
    State(api): SharedState,
    QueryParams(query): QueryParams<DecisionQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let RefusalRequest { token, reason } = api.body.json(&parts.headers, body).await?;
    find(&api, &parts, &query, &token).await?;
    let result = run_detached(async move {
        let call = deferred(&api)?.redeem(&token, SystemTime::now()).await.map_err(token_problem)?;
        Ok(api.tools.refuse(&call.question, reason.as_deref()).await)
    });
    Ok(refusal_response(&result.await?))
}

/// Refuses a pending call and all others of its conversation.
pub(crate) async fn abort(
    State(api): SharedState,
    QueryParams(query): QueryParams<DecisionQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let AbortRequest { token } = api.body.json(&parts.headers, body).await?;
    find(&api, &parts, &query, &token).await?;
    Ok(refusal_response(&run_detached(async move { abort_all(&api, &token).await }).await?))
}

/// Returns the call of a token, which stays valid. A call of another conversation than the request's is not found.
async fn find(api: &ApiState, parts: &Parts, query: &DecisionQuery, token: &str) -> Result<PendingCall, Problem> {
    let conversation = api.conversation(parts, query.conversation.as_deref())?;
    let call = deferred(api)?.peek(token, SystemTime::now()).await.map_err(token_problem)?;
    match conversation {
        Some(own) if call.question.conversation.as_deref() != Some(own.as_str()) => {
            Err(token_problem(TokenError::Invalid))
        }
        _ => Ok(call),
    }
}

async fn abort_all(api: &ApiState, token: &str) -> Result<ToolResult, Problem> {
    let (deferred, now) = (deferred(api)?, SystemTime::now());
    let call = deferred.redeem(token, now).await.map_err(token_problem)?;
    // Abort this call first: its token is redeemed, so the request cannot be repeated.
    let result = api.tools.abort(&call.question).await;
    if let Some(conversation) = &call.question.conversation {
        let others = deferred.waiting(conversation, now).await.unwrap_or_else(|error| {
            tracing::warn!(%error, conversation, "failed to abort the other pending calls");
            Vec::new()
        });
        for (other, _) in others {
            // Another request may have redeemed it in the meantime.
            if let Ok(other) = deferred.redeem(&other.token, now).await {
                api.tools.abort(&other.question).await;
            }
        }
    }
    Ok(result)
}

fn deferred(api: &ApiState) -> Result<&Deferred, Problem> {
    api.pending.as_ref().ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "path", "This server has no pending calls."))
}

/// Returns the failed result with status 200, since the request to refuse the call succeeded.
fn refusal_response(result: &ToolResult) -> Response {
    Json(result).into_response()
}

fn invalid_edit(error: &tool_runtime::confirm::EditError) -> ToolResult {
    ToolResult::failure(ToolError::new(
        ErrorKind::InvalidArguments,
        format!("The edited arguments are invalid: {error}."),
    ))
    .not_started()
}

fn token_problem(error: TokenError) -> Problem {
    let (status, kind, detail) = match error {
        TokenError::Expired => (StatusCode::GONE, "expired", "The token has expired: make the call again."),
        TokenError::Unavailable => {
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable", "Failed to look up the pending calls: try again.")
        }
        _ => {
            let detail =
                "No pending call has this token: it was used already, is invalid, or is of another conversation.";
            (StatusCode::NOT_FOUND, "token", detail)
        }
    };
    Problem::new(status, kind, detail)
}
