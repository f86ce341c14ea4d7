//! HTTP responses for tool results.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use crate::Problem;
use crate::idempotency::is_replayed;

/// Returns a result as JSON with the matching status. A failed result has the members of a [`Problem`] too, so that
/// every response outside the 200s has one form.
pub(crate) fn result_response(result: &ToolResult) -> Response {
    match &result.error {
        None => Json(result).into_response(),
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
