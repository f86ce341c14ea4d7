//! What a call answers over HTTP.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use crate::Problem;
use crate::idempotency::is_replayed;

/// A result as JSON, with the status that fits it. One that failed is a problem as well, so that whatever is not of
/// the 200s is of one form: it has the members of both.
pub(crate) fn answer(result: &ToolResult) -> Response {
    match &result.error {
        None => Json(result).into_response(),
        Some(error) if error.kind == ErrorKind::Pending => (StatusCode::ACCEPTED, Json(result)).into_response(),
        Some(error) => {
            let problem = if is_replayed(result) { final_problem(error) } else { problem(error) };
            problem.respond(Failed { problem: &problem, result })
        }
    }
}

/// What went wrong with a call, as a problem, with `Retry-After` where it is known when to come back.
pub(crate) fn problem(error: &ToolError) -> Problem {
    Problem::new(status(error.kind), error.kind.as_str(), &error.message).with_retry_after(error.retry_after())
}

/// The failure of an earlier call, as a problem. Every retry gets the same, so its status does not ask for one.
fn final_problem(error: &ToolError) -> Problem {
    let status = match status(error.kind) {
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => StatusCode::CONFLICT,
        status => status,
    };
    Problem::new(status, error.kind.as_str(), &error.message)
}

#[derive(Serialize)]
struct Failed<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    #[serde(flatten)]
    result: &'a ToolResult,
}

/// A tool that ran and said no is 422: it was understood, and nothing is wrong with the server. A call whose outcome is
/// unknown is 409: clients repeat what is of the 500s by themselves, and it may have taken effect.
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
