//! What went wrong with a call, in words for a model, and whether the tool may have run.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::ServiceError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use super::connection::chain;
use super::link::Link;
use super::listed::Withheld;
use super::transport::{LOST, TOO_LONG, UNREADABLE};

const TOO_MANY_REQUESTS: u16 = 429;

/// How long to wait before another request to a server that is asked too often, if it does not say.
const PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

pub(super) fn failure(kind: ErrorKind, message: impl Into<String>) -> ToolResult {
    ToolResult::failure(ToolError::new(kind, message))
}

/// Whether the server refused a request because it does not know the session.
pub(super) fn is_forgotten(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else { return false };
    matches!(over_http(error), Some(StreamableHttpError::SessionExpired))
}

/// Whether the server refused a request because there were too many, and when there may be another.
pub(super) fn asked_too_often(error: &ServiceError) -> Option<Duration> {
    let ServiceError::TransportSend(error) = error else { return None };
    match over_http(error) {
        Some(StreamableHttpError::HttpStatus(status)) if status.status == TOO_MANY_REQUESTS => {
            let wait = status.retry_after.as_deref().and_then(tool_net::retry_after);
            Some(wait.unwrap_or(PAUSE).min(LONGEST_PAUSE))
        }
        _ => None,
    }
}

/// Why a request over HTTP was not sent that had waited, if its tool is the reason.
fn withheld(error: &ServiceError) -> Option<Withheld> {
    let ServiceError::TransportSend(error) = error else { return None };
    let Some(StreamableHttpError::Io(error)) = over_http(error) else { return None };
    error.get_ref()?.downcast_ref().copied()
}

/// What [`withheld`] finds again.
pub(super) fn withhold(withheld: Withheld) -> StreamableHttpError<reqwest::Error> {
    io::Error::other(withheld).into()
}

fn over_http(error: &DynamicTransportError) -> Option<&StreamableHttpError<reqwest::Error>> {
    error.error.downcast_ref()
}

/// What a call is told that was never sent.
pub(super) fn unsent(server: &str, tool: &str) -> ToolResult {
    let message =
        format!("The connection to the server `{server}` was lost before `{tool}` was called. It did not run.");
    failure(ErrorKind::Retry, message)
}

/// What went wrong, in words for a model, and whether the tool may have run.
pub(super) fn failed(link: &Link, tool: &str, error: ServiceError) -> ToolResult {
    let server = link.name();
    if let Some(withheld) = withheld(&error) {
        return withheld.refusal(server, tool);
    }
    let unknown = |why: &str| {
        let message = format!("{why} while `{tool}` was running there: it may have happened, or not.");
        failure(ErrorKind::OutcomeUnknown, message)
    };
    match error {
        ServiceError::McpError(error) => match error.code {
            LOST => unknown(&format!("The connection to the server `{server}` was lost")),
            TOO_LONG | UNREADABLE => {
                failure(ErrorKind::Failed, format!("`{tool}` of the server `{server}` ran, but {}.", error.message))
            }
            code => {
                if matches!(code, ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND) {
                    // The tool may be gone, or be another by now.
                    link.doubt();
                }
                failure(ErrorKind::Failed, refusal(server, &error))
            }
        },
        ServiceError::TransportSend(error) => {
            // Where it is sent next it will be known: a new connection begins with a list. And who is asked too often
            // is not asked for more.
            let is_no_doubt = match over_http(&error) {
                Some(StreamableHttpError::HttpStatus(status)) => status.status == TOO_MANY_REQUESTS,
                Some(StreamableHttpError::SessionExpired) => true,
                _ => false,
            };
            if !is_no_doubt {
                link.doubt();
            }
            not_sent(server, tool, &error, unknown)
        }
        ServiceError::TransportClosed => unknown(&format!("The connection to the server `{server}` was lost")),
        ServiceError::UnexpectedResponse => {
            failure(ErrorKind::Failed, format!("The server `{server}` answered with what is no result of a tool."))
        }
        error => failure(ErrorKind::Failed, format!("The server `{server}` did not answer: {error}.")),
    }
}

fn refusal(server: &str, error: &ErrorData) -> String {
    let message: Cow<'_, str> = match error.message.trim().trim_end_matches('.') {
        "" => "it did not say why".into(),
        message => message.into(),
    };
    format!("The server `{server}` refused the call: {message} (code {}).", error.code.0)
}

/// A request that could not be sent, or whose answer did not come back over HTTP.
fn not_sent(
    server: &str,
    tool: &str,
    error: &DynamicTransportError,
    unknown: impl Fn(&str) -> ToolResult,
) -> ToolResult {
    let Some(error) = over_http(error) else {
        // A line that was not written to its end is none.
        let message = format!("The server `{server}` cannot be reached: {}. `{tool}` did not run.", error.error);
        return failure(ErrorKind::Retry, message);
    };
    let why = chain(error);
    match error {
        StreamableHttpError::Client(client) if client.is_connect() => {
            failure(ErrorKind::Retry, format!("The server `{server}` cannot be reached: {why}. `{tool}` did not run."))
        }
        StreamableHttpError::HttpStatus(status) if status.status == TOO_MANY_REQUESTS => {
            let wait = status.retry_after.as_deref().and_then(tool_net::retry_after);
            let until = wait.map(|wait| format!("; it says to wait for {} s", wait.as_secs())).unwrap_or_default();
            let message = format!("The server `{server}` is asked too often{until}. `{tool}` did not run.");
            ToolResult::failure(ToolError::new(ErrorKind::Retry, message).with_retry_after(wait))
        }
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            failure(ErrorKind::Fatal, format!("The server `{server}` does not let us in: {why}. `{tool}` did not run."))
        }
        #[cfg(feature = "auth")]
        StreamableHttpError::Auth(error) => {
            let kind = if super::oauth::may_work_later(error) { ErrorKind::Retry } else { ErrorKind::Fatal };
            failure(kind, format!("The server `{server}` does not let us in: {why}. `{tool}` did not run."))
        }
        StreamableHttpError::SessionExpired => {
            let message = format!("The server `{server}` takes no call of ours, not in a new session either");
            failure(ErrorKind::Retry, format!("{message}: {why}. `{tool}` did not run."))
        }
        StreamableHttpError::HttpStatus(status) if status.status < 500 => {
            failure(ErrorKind::Failed, format!("The server `{server}` failed: {why}."))
        }
        // What stands between us and the server says so, too, of what it has passed on.
        StreamableHttpError::HttpStatus(_) | StreamableHttpError::UnexpectedContentType(_) => {
            unknown(&format!("The server `{server}` failed ({why})"))
        }
        _ => unknown(&format!("The server `{server}` did not answer ({why})")),
    }
}
