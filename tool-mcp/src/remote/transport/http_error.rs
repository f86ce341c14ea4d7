//! Interprets HTTP error responses.

use ::http::{StatusCode, header};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcError, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError, StreamableHttpPostResponse,
};

use super::http::{Error, read_body, request_id};

/// The most bytes of an error body that are read.
const MAX_BODY: usize = 64 << 10;

/// Converts an error response to a JSON-RPC error if its body holds one, or else to an HTTP error.
pub(super) async fn http_error(
    response: Response,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Result<StreamableHttpPostResponse, Error> {
    let status = response.status();
    match status {
        StatusCode::UNAUTHORIZED => {
            return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge(&response))));
        }
        StatusCode::FORBIDDEN => {
            return Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(
                challenge(&response),
                None,
            )));
        }
        _ => {}
    }
    let retry_after = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let error = HttpStatusError::new(status.as_u16(), retry_after.map(str::to_owned));
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Err(error.into());
    }
    let body = read_body(response, MAX_BODY).await?.unwrap_or_default();
    let received = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(ServerJsonRpcMessage::Error(received)) => Some(received),
        _ => None,
    };
    if let Some(id) = discovery_id(message).filter(|_| status.is_client_error() && !in_session) {
        // A server of the older generation refuses the unknown request in some form, possibly without an id.
        let unknown = || ErrorData::invalid_request(format!("HTTP {status}"), None);
        let error = received.map_or_else(unknown, |received| received.error);
        return Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(id)), None));
    }
    if in_session
        && status == StatusCode::NOT_FOUND
        && !received.as_ref().is_some_and(|received| is_response_to(received, message))
    {
        return Err(StreamableHttpError::SessionExpired);
    }
    match received {
        // Many servers report an unknown session, as after a restart, in this way.
        Some(received)
            if in_session
                && status == StatusCode::BAD_REQUEST
                && received.id.is_none()
                && request_id(message).is_some()
                && names_session(&received.error) =>
        {
            Err(StreamableHttpError::SessionExpired)
        }
        Some(mut received) => {
            // The error is the response to this message, even if its id differs.
            received.id = request_id(message);
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(received), None))
        }
        None => Err(error.into()),
    }
}

/// Returns `true` if the server parsed the refused message: then the error is not about the session.
fn is_response_to(received: &JsonRpcError, message: &ClientJsonRpcMessage) -> bool {
    // Compared as text, because some servers return a number as a string.
    received.id.as_ref().is_some_and(|id| request_id(message).is_some_and(|ours| id.to_string() == ours.to_string()))
}

/// Returns `true` if an error is about the session, judging by its text or by the codes that SDKs use for it.
fn names_session(error: &ErrorData) -> bool {
    matches!(error.code.0, -32_000 | -32_001) || error.message.to_ascii_lowercase().contains("session")
}

/// Returns the challenge of a response, preferring a bearer challenge.
fn challenge(response: &Response) -> String {
    let all = response.headers().get_all(header::WWW_AUTHENTICATE);
    let mut challenges = all.iter().filter_map(|value| value.to_str().ok()).peekable();
    let first = challenges.peek().copied();
    let bearer = challenges.find(|value| value.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer")));
    bearer.or(first).map_or_else(|| format!("HTTP {}", response.status()), str::to_owned)
}

/// Returns the id of a `server/discover` request.
fn discovery_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::DiscoverRequest(_)) => {
            Some(request.id.clone())
        }
        _ => None,
    }
}
