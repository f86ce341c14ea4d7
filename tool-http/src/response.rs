//! HTTP responses for tool results.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use tool_runtime::{ErrorKind, ToolDefinition, ToolError, ToolResult};

use crate::Problem;
use crate::idempotency::is_replayed;

/// Returns a result as JSON with the matching status. A failed result has the members of a [`Problem`] too, so that
/// every response outside the 200s has one form.
pub(crate) fn result_response(result: &ToolResult, structured: bool) -> Response {
    match &result.error {
        None => Json(ResultBody::new(result, structured)).into_response(),
        Some(error) if error.kind == ErrorKind::Pending => (StatusCode::ACCEPTED, Json(result)).into_response(),
        Some(error) => {
            let problem = if is_replayed(result) { final_problem(error) } else { problem(error) };
            problem.respond(FailedResult { problem: &problem, result })
        }
    }
}

/// Converts the error of a call to a problem, with `Retry-After` if the delay is known.
pub(crate) fn problem(error: &ToolError) -> Problem {
    Problem::new(status(error.kind), error.kind.as_str(), &error.message).with_retry_after(error.retry_after())
}

/// Converts the error of a replayed call to a problem. Every retry gets the same result, so the status must not invite
/// one.
fn final_problem(error: &ToolError) -> Problem {
    let status = match status(error.kind) {
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => StatusCode::CONFLICT,
        status => status,
    };
    Problem::new(status, error.kind.as_str(), &error.message)
}

/// Returns `true` if the output of a tool is JSON of a known schema.
pub(crate) fn has_structured_output(tool: &ToolDefinition) -> bool {
    tool.returns.is_some()
}

/// A result, with its output as JSON if the tool has an output schema.
#[derive(Serialize)]
pub(crate) struct ResultBody<'a> {
    #[serde(flatten)]
    result: &'a ToolResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
}

impl<'a> ResultBody<'a> {
    /// Parses the output of a `structured` call that succeeded. An output that was shortened for the model is no JSON.
    pub(crate) fn new(result: &'a ToolResult, structured: bool) -> Self {
        let structured = if structured && result.success { serde_json::from_str(&result.output).ok() } else { None };
        Self { result, structured }
    }
}

#[derive(Serialize)]
struct FailedResult<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    #[serde(flatten)]
    result: &'a ToolResult,
}

/// Maps an error kind to a status. A tool that ran and failed is 422: the request was valid and the server works. An
/// unknown outcome is 409, because clients retry 5xx responses automatically and the call may have taken effect.
fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::UnknownTool => StatusCode::NOT_FOUND,
        ErrorKind::InvalidArguments | ErrorKind::Failed | ErrorKind::Retry | ErrorKind::Fatal => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        ErrorKind::Refused | ErrorKind::Aborted => StatusCode::FORBIDDEN,
        ErrorKind::OutcomeUnknown => StatusCode::CONFLICT,
        ErrorKind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Busy | ErrorKind::Injection | ErrorKind::Journal | ErrorKind::Cancelled | ErrorKind::Unavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ErrorKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        ErrorKind::Pending => StatusCode::ACCEPTED,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
