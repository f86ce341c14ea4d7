//! What a server means that answers a request with an error of HTTP.

use ::http::{StatusCode, header};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcError, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError, StreamableHttpPostResponse,
};

use super::http::{Error, body_of, request_id};

/// How much is read of it.
const LONGEST: usize = 64 << 10;

/// An error of the protocol where the answer holds one, else one of HTTP.
pub(super) async fn refusal(
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
    let body = body_of(response, LONGEST).await?.unwrap_or_default();
    let told = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(ServerJsonRpcMessage::Error(told)) => Some(told),
        _ => None,
    };
    if let Some(id) = discovery(message).filter(|_| status.is_client_error() && !in_session) {
        // A server of the older generation refuses what it does not know, in whatever words: the id may be missing.
        let error = told.map_or_else(|| ErrorData::invalid_request(format!("HTTP {status}"), None), |told| told.error);
        return Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(id)), None));
    }
    if in_session && status == StatusCode::NOT_FOUND && !told.as_ref().is_some_and(|told| answers(told, message)) {
        return Err(StreamableHttpError::SessionExpired);
    }
    match told {
        // Many servers that do not know a session, as after a restart, say so in this way.
        Some(told)
            if in_session
                && status == StatusCode::BAD_REQUEST
                && told.id.is_none()
                && request_id(message).is_some()
                && names_session(&told.error) =>
        {
            Err(StreamableHttpError::SessionExpired)
        }
        Some(mut told) => {
            // Whatever it calls itself, it answers what was sent.
            told.id = request_id(message);
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(told), None))
        }
        None => Err(error.into()),
    }
}

/// Whether it was read what it refuses: then it is not about the session.
fn answers(told: &JsonRpcError, message: &ClientJsonRpcMessage) -> bool {
    // As text: there are servers that give a number back as a string.
    told.id.as_ref().is_some_and(|id| request_id(message).is_some_and(|ours| id.to_string() == ours.to_string()))
}

/// Whether a refusal is about the session and not about what was said in it: by its words, or by one of the codes that
/// the SDKs give it.
fn names_session(error: &ErrorData) -> bool {
    matches!(error.code.0, -32_000 | -32_001) || error.message.to_ascii_lowercase().contains("session")
}

/// What a server asks for that does not let us in; of several ways the one that we know.
fn challenge(response: &Response) -> String {
    let all = response.headers().get_all(header::WWW_AUTHENTICATE);
    let mut said = all.iter().filter_map(|value| value.to_str().ok()).peekable();
    let first = said.peek().copied();
    let bearer = said.find(|value| value.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer")));
    bearer.or(first).map_or_else(|| format!("HTTP {}", response.status()), str::to_owned)
}

/// The request that asks a server which generation it is of.
fn discovery(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::DiscoverRequest(_)) => {
            Some(request.id.clone())
        }
        _ => None,
    }
}
