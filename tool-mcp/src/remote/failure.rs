//! Failures of calls: the message for the model, and whether the tool may have run.
//!
//! Transport errors name addresses, programs and accounts. They are logged, and the model reads a fixed text. What the
//! server itself says in a JSON-RPC error is for the model.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::ServiceError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use super::connection::error_chain;
use super::link::ServerLink;
use super::mcp_tool::WithheldReason;
use super::transport::{LOST, TOO_LONG, UNREADABLE};

const TOO_MANY_REQUESTS: u16 = 429;

/// The delay after `429 Too Many Requests` without a `Retry-After`.
const DEFAULT_DELAY: Duration = Duration::from_secs(30);
const MAX_DELAY: Duration = Duration::from_secs(600);

pub(super) fn failure(kind: ErrorKind, message: impl Into<String>) -> ToolResult {
    ToolResult::failure(ToolError::new(kind, message))
}

/// Returns `true` if the server rejected a request because it does not know the session.
pub(super) fn is_session_expired(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else { return false };
    matches!(over_http(error), Some(StreamableHttpError::SessionExpired))
}

/// Returns the delay until the next request, if the server has rate limited this one.
pub(super) fn rate_limit_delay(error: &ServiceError) -> Option<Duration> {
    let ServiceError::TransportSend(error) = error else { return None };
    match over_http(error) {
        Some(StreamableHttpError::HttpStatus(status)) if status.status == TOO_MANY_REQUESTS => {
            let delay = status.retry_after.as_deref().and_then(tool_net::retry_after);
            Some(delay.unwrap_or(DEFAULT_DELAY).min(MAX_DELAY))
        }
        _ => None,
    }
}

/// Returns why the HTTP transport withheld a request, if it did.
fn withheld_reason(error: &ServiceError) -> Option<WithheldReason> {
    let ServiceError::TransportSend(error) = error else { return None };
    let Some(StreamableHttpError::Io(error)) = over_http(error) else { return None };
    error.get_ref()?.downcast_ref().copied()
}

/// Wraps the reason in a transport error, for [`withheld_reason`].
pub(super) fn withheld_error(withheld: WithheldReason) -> StreamableHttpError<reqwest::Error> {
    io::Error::other(withheld).into()
}

fn over_http(error: &DynamicTransportError) -> Option<&StreamableHttpError<reqwest::Error>> {
    error.error.downcast_ref()
}

/// Returns the failure of a call that was never sent.
pub(super) fn unsent_failure(server: &str, tool: &str) -> ToolResult {
    let message =
        format!("The connection to the server `{server}` was lost before `{tool}` was called. It did not run.");
    failure(ErrorKind::Retry, message)
}

/// Converts an error to a failure for the model.
pub(super) fn call_failure(link: &ServerLink, tool: &str, error: ServiceError) -> ToolResult {
    let server = link.name();
    if let Some(withheld) = withheld_reason(&error) {
        return withheld.refusal(server, tool);
    }
    let unknown = |why: &str| {
        let message = format!("{why} while `{tool}` was running: it may or may not have taken effect.");
        failure(ErrorKind::OutcomeUnknown, message)
    };
    match error {
        ServiceError::McpError(error) => match error.code {
            LOST => unknown(&format!("The connection to the server `{server}` was lost")),
            TOO_LONG | UNREADABLE => failure(
                ErrorKind::Failed,
                format!("`{tool}` of the server `{server}` ran, but its result cannot be used: {}.", error.message),
            ),
            code => {
                if matches!(code, ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND) {
                    // The tool may have been removed or replaced.
                    link.request_relist();
                }
                failure(ErrorKind::Failed, refusal_message(server, &error))
            }
        },
        ServiceError::TransportSend(error) => {
            // A new connection starts with a listing anyway, and a rate-limited server gets no more requests.
            let needs_no_relist = match over_http(&error) {
                Some(StreamableHttpError::HttpStatus(status)) => status.status == TOO_MANY_REQUESTS,
                Some(StreamableHttpError::SessionExpired) => true,
                _ => false,
            };
            if !needs_no_relist {
                link.request_relist();
            }
            send_failure(server, tool, &error, unknown)
        }
        ServiceError::TransportClosed => unknown(&format!("The connection to the server `{server}` was lost")),
        ServiceError::UnexpectedResponse => {
            failure(ErrorKind::Failed, format!("The server `{server}` sent a response that is not a tool result."))
        }
        error => {
            log_cause(server, tool, &error.to_string());
            unknown(&format!("The server `{server}` did not respond"))
        }
    }
}

fn refusal_message(server: &str, error: &ErrorData) -> String {
    let message: Cow<'_, str> = match error.message.trim().trim_end_matches('.') {
        "" => "no reason given".into(),
        message => message.into(),
    };
    format!("The server `{server}` refused the call: {message} (code {}).", error.code.0)
}

/// Logs the cause of a failure whose message does not have it.
fn log_cause(server: &str, tool: &str, error: &str) {
    tracing::warn!(server, tool, error, "a call of a remote tool failed");
}

/// Converts the error of a request that could not be sent, or that got no valid HTTP response.
fn send_failure(
    server: &str,
    tool: &str,
    error: &DynamicTransportError,
    unknown: impl Fn(&str) -> ToolResult,
) -> ToolResult {
    log_cause(server, tool, &error_chain(&*error.error));
    let not_run = |kind, why: &str| failure(kind, format!("The server `{server}` {why}. `{tool}` did not run."));
    // A partially written line is not a request.
    let Some(error) = over_http(error) else { return not_run(ErrorKind::Retry, "cannot be reached") };
    match error {
        StreamableHttpError::Client(client) if client.is_connect() => not_run(ErrorKind::Retry, "cannot be reached"),
        StreamableHttpError::HttpStatus(status) if status.status == TOO_MANY_REQUESTS => {
            let delay = status.retry_after.as_deref().and_then(tool_net::retry_after);
            let until = delay.map(|delay| format!("; retry after {} s", delay.as_secs())).unwrap_or_default();
            let message = format!("The server `{server}` is rate limiting requests{until}. `{tool}` did not run.");
            ToolResult::failure(ToolError::new(ErrorKind::Retry, message).with_retry_after(delay))
        }
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            not_run(ErrorKind::Fatal, "denied access")
        }
        #[cfg(feature = "auth")]
        StreamableHttpError::Auth(error) => {
            let kind = if super::oauth::is_transient(error) { ErrorKind::Retry } else { ErrorKind::Fatal };
            not_run(kind, "denied access")
        }
        StreamableHttpError::SessionExpired => not_run(ErrorKind::Retry, "rejected the call in a new session, too"),
        StreamableHttpError::HttpStatus(status) if status.status < 500 => {
            failure(ErrorKind::Failed, format!("The server `{server}` failed with HTTP status {}.", status.status))
        }
        // A proxy may respond like this after it has forwarded the request.
        StreamableHttpError::HttpStatus(status) => {
            unknown(&format!("The server `{server}` failed with HTTP status {}", status.status))
        }
        StreamableHttpError::UnexpectedContentType(_) => {
            unknown(&format!("The server `{server}` sent a response that is not MCP"))
        }
        _ => unknown(&format!("The server `{server}` did not respond")),
    }
}
