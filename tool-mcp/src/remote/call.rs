//! One call of a remote tool.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, ErrorCode, ErrorData, RequestId,
    RequestParamsMeta, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};
use tool_runtime::{ErrorKind, Scope, ToolError, ToolResult};

use super::connection::chain;
use super::link::Link;
use super::promise::Promise;
use super::transport::{LOST, Listener, TOO_LONG, UNREADABLE};
use super::{content, promise};

/// How often a server may ask for more before a call must be over.
const ROUNDS: usize = 10;

/// What rmcp answers calls in flight with when a session was lost and another had to be made.
const NEW_SESSION: &str = "streamable HTTP session was re-initialized before the response arrived";

/// A tool as its server knows it.
pub(super) struct Remote {
    /// The name that the server gives it.
    pub(super) name: String,
    /// What it says of its answers.
    pub(super) promise: Option<Promise>,
}

/// Calls a tool of the server.
pub(super) async fn call(
    link: Arc<Link>,
    remote: Arc<Remote>,
    arguments: Map<String, Value>,
    scope: Scope,
) -> ToolResult {
    let tool = remote.name.as_str();
    let connection = match link.connection().await {
        Ok(connection) => connection,
        Err(away) => return failure(ErrorKind::Retry, away),
    };
    let mut params = CallToolRequestParams::new(remote.name.clone()).with_arguments(arguments);
    for _ in 0..ROUNDS {
        // Only the newer generation asks back; there the call is made again.
        let again = connection.asks_back.then(|| params.clone());
        let answer = match send(&connection.peer, params, &scope).await {
            Ok(answer) => answer,
            Err(error) => return failed(&link, tool, error),
        };
        match answer {
            ServerResult::CallToolResult(answer) => {
                let broken = remote.broken_by(answer.is_error == Some(true), answer.structured_content.as_ref());
                return kept(&link, tool, broken, content::result(answer));
            }
            ServerResult::InputRequiredResult(asked) => {
                let Some(again) = again else { return failed(&link, tool, ServiceError::UnexpectedResponse) };
                params = again;
                match connection.requests.answer(asked.input_requests.unwrap_or_default()).await {
                    Ok(answers) => params.input_responses = (!answers.is_empty()).then_some(answers),
                    Err(error) => return failed(&link, tool, ServiceError::McpError(error)),
                }
                params.request_state = asked.request_state;
            }
            ServerResult::CustomResult(answer) => {
                let broken = remote.broken_by(answer.0["isError"] == true, answer.0.get("structuredContent"));
                return match content::loose_result(answer.0) {
                    Some(result) => kept(&link, tool, broken, result),
                    None => failed(&link, tool, ServiceError::UnexpectedResponse),
                };
            }
            _ => return failed(&link, tool, ServiceError::UnexpectedResponse),
        }
    }
    failure(
        ErrorKind::Failed,
        format!("The server `{}` kept asking for more, and was not answered again.", link.name()),
    )
}

impl Remote {
    /// What is wrong with an answer that is no error, in words.
    fn broken_by(&self, is_error: bool, structured: Option<&Value>) -> Option<String> {
        self.promise.as_ref().filter(|_| !is_error)?.broken_by(structured)
    }
}

/// The result, unless it is not what was promised.
fn kept(link: &Link, tool: &str, broken: Option<String>, result: ToolResult) -> ToolResult {
    match broken {
        None => result,
        Some(why) => promise::broken(link.name(), tool, &why, &result),
    }
}

async fn send(
    peer: &Peer<RoleClient>,
    mut params: CallToolRequestParams,
    scope: &Scope,
) -> Result<ServerResult, ServiceError> {
    if let Some(parent) = scope.context().trace_parent() {
        params.set_traceparent(parent);
    }
    let mut request = CallToolRequest::new(params);
    let progress = scope.progress();
    if progress.is_heard() {
        request.extensions.insert(Listener(progress));
    }
    let request = ClientRequest::CallToolRequest(request);
    let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
    let mut abandoned = Abandoned { peer, id: Some(sent.id.clone()) };
    let answer = sent.await_response().await;
    abandoned.id = None;
    answer
}

/// Tells the server when nobody waits for its answer any more: the call was cancelled, or its time is up.
struct Abandoned<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        let reason = Some("nobody waits for the answer any more".to_owned());
        runtime
            .spawn(async move { drop(peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await) });
    }
}

fn failure(kind: ErrorKind, message: impl Into<String>) -> ToolResult {
    ToolResult::failure(ToolError::new(kind, message))
}

/// What went wrong, in words for a model, and whether the tool may have run.
fn failed(link: &Link, tool: &str, error: ServiceError) -> ToolResult {
    let server = link.name();
    let unknown = |why: &str| {
        let message = format!("{why} while `{tool}` was running there: it may have happened, or not.");
        failure(ErrorKind::OutcomeUnknown, message)
    };
    match error {
        ServiceError::McpError(error) => match error.code {
            ErrorCode::INTERNAL_ERROR if error.message == NEW_SESSION => {
                unknown(&format!("The server `{server}` forgot who we are"))
            }
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
            link.doubt();
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
    let Some(error) = error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() else {
        // A line that was not written to its end is none.
        let message = format!("The server `{server}` cannot be reached: {}. `{tool}` did not run.", error.error);
        return failure(ErrorKind::Retry, message);
    };
    let why = chain(error);
    match error {
        StreamableHttpError::Client(client) if client.is_connect() => {
            failure(ErrorKind::Retry, format!("The server `{server}` cannot be reached: {why}. `{tool}` did not run."))
        }
        StreamableHttpError::HttpStatus(status) if status.status == 429 => {
            let wait = status.retry_after.as_ref().map(|after| format!("; it says to wait for {after} s"));
            let wait = wait.unwrap_or_default();
            failure(ErrorKind::Retry, format!("The server `{server}` is asked too often{wait}. `{tool}` did not run."))
        }
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            failure(ErrorKind::Fatal, format!("The server `{server}` does not let us in: {why}. `{tool}` did not run."))
        }
        #[cfg(feature = "auth")]
        StreamableHttpError::Auth(error) => {
            use rmcp::transport::auth::AuthError;
            // What is sent to renew a token may work later.
            let later = matches!(error, AuthError::TokenRefreshFailed(_) | AuthError::HttpError(_));
            let kind = if later { ErrorKind::Retry } else { ErrorKind::Fatal };
            failure(kind, format!("The server `{server}` does not let us in: {why}. `{tool}` did not run."))
        }
        StreamableHttpError::SessionExpired | StreamableHttpError::ReinitializationFailed(_) => {
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
