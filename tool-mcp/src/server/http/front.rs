//! The short way of calls, which are nearly all that comes.
//!
//! What rmcp does with a request is right for every request, and dear for a call of a tool: it tries one kind of message
//! after the other until one fits, and a client of 2026-07-28 has a service of its own started for each of its calls.
//! Here a call that is plainly in order is read in one go and goes straight to where it is to be answered. Whatever is
//! not plainly in order goes to rmcp, which has the words for what is wrong with it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, ProtocolVersion, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::Semaphore;
use tool_runtime::CancellationToken;

use super::events::events;
use super::head::{Head, Hosts};
use super::local;
use crate::server::call::{answered, tool_call};
use crate::server::read::{Object, Params, ToolsCall, tools_call};
use crate::server::{Session, Shared};

/// Where requests come in.
pub(super) struct Front<H: ServerHandler> {
    pub(super) shared: Arc<Shared<H>>,
    pub(super) hosts: Hosts,
    /// Whether only this machine is answered.
    pub(super) local_only: bool,
    pub(super) max_body: usize,
    pub(super) places: Arc<Semaphore>,
    pub(super) sessions: Arc<LocalSessionManager>,
    pub(super) stop: CancellationToken,
    pub(super) rmcp: StreamableHttpService<Session<H>, LocalSessionManager>,
}

/// Answers a request.
pub(super) async fn answer<H: ServerHandler>(State(front): State<Arc<Front<H>>>, request: Request) -> Response {
    if front.local_only
        && let Some(refused) = local::refusal(&request)
    {
        return refused;
    }
    let Some(head) = Head::of(&request, &front.hosts, front.max_body) else { return front.long_way(request).await };
    let (parts, body) = request.into_parts();
    let body = match to_bytes(body, front.max_body).await {
        Ok(body) => body,
        Err(error) => return (StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}")).into_response(),
    };
    let parts = match tools_call(&body) {
        None => parts,
        Some(call) => match head {
            Head::Of2026 => match front.call(&call, &parts).await {
                Some(answer) => return answer,
                None => parts,
            },
            Head::Of2025 => match front.call_in_session(call, parts).await {
                Ok(answer) => return answer,
                Err(parts) => parts,
            },
        },
    };
    front.long_way(Request::from_parts(parts, Body::from(body))).await
}

impl<H: ServerHandler> Front<H> {
    async fn long_way(&self, request: Request) -> Response {
        let header = |name| request.headers().get(name).cloned();
        // Over HTTP/2 the host is part of the address.
        let in_address = || HeaderValue::from_str(request.uri().authority()?.as_str()).ok();
        let (host, origin) = (header(header::HOST).or_else(in_address), header(header::ORIGIN));
        let response = self.rmcp.handle(request).await.map(Body::new);
        match response.status() {
            StatusCode::FORBIDDEN => not_for(host.as_ref(), origin.as_ref()),
            _ => response,
        }
    }

    /// The answer to a call that needs nothing of its client, and belongs to no session.
    pub(super) async fn call(&self, call: &ToolsCall<'_>, parts: &Parts) -> Option<Response> {
        let ToolsCall { id, params: Object(Params { meta, name, arguments }), .. } = call;
        let meta = meta.as_ref()?;
        let version = &ProtocolVersion::V_2026_07_28;
        let in_order = meta.protocol_version().as_ref() == Some(version)
            && meta.missing_required_keys(version).is_empty()
            && meta.get_progress_token().is_none()
            && Head::names(&parts.headers, name);
        if !in_order {
            return None;
        }
        let listing = self.shared.listings.of(&self.shared.tools).ok()?;
        let listed = listing.get(name)?;
        if self.shared.may_ask(listed) || listed.sees_client || listed.has_headers {
            return None;
        }
        let _place = self.places.try_acquire().ok()?;
        let text = Cow::Borrowed(arguments.map_or("{}", |arguments| arguments.get()));
        let call = tool_call(listed, text, None, id, meta);
        let result = self.shared.tools.call(call).cancel(self.stop.clone()).await;
        let id = id.clone();
        Some(json(&match answered(result, listed, |result| self.shared.tools.whole_output(None, result)) {
            Ok(result) => ServerJsonRpcMessage::response(ServerResult::from(result), id),
            Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
        }))
    }

    /// The answer to a call in a session, which runs where the session does. Without one the request comes back.
    async fn call_in_session(&self, call: ToolsCall<'_>, parts: Parts) -> Result<Response, Parts> {
        let Some(session) = Head::session(&parts.headers) else { return Err(parts) };
        let of_2026 = call.params.0.meta.as_ref().is_some_and(|meta| meta.protocol_version().is_some());
        if of_2026 || !self.sessions.has_session(&session).await.unwrap_or(false) {
            return Err(parts);
        }
        let mut message = ClientJsonRpcMessage::from(call);
        if let ClientJsonRpcMessage::Request(request) = &mut message {
            request.request.extensions_mut().insert(parts);
        }
        Ok(match self.sessions.create_stream(&session, message).await {
            Ok(messages) => events(messages, self.stop.clone()),
            Err(error) => {
                tracing::warn!(%error, "a session does not take a call");
                (StatusCode::INTERNAL_SERVER_ERROR, format!("the session does not take the call: {error}"))
                    .into_response()
            }
        })
    }
}

/// The refusal of a request for another host, or of a page of another origin.
fn not_for(host: Option<&HeaderValue>, origin: Option<&HeaderValue>) -> Response {
    let shown = |value: &HeaderValue| format!("`{}`", String::from_utf8_lossy(value.as_bytes()));
    let host = host.map_or_else(|| "a host that is not named".to_owned(), shown);
    let origin = origin.map(|origin| format!(" from pages of {}", shown(origin))).unwrap_or_default();
    let why = format!(
        "Forbidden: this server answers no requests for {host}{origin}. What it answers is said where it is started, by \
         `HttpConfig::host` and `HttpConfig::origin`."
    );
    (StatusCode::FORBIDDEN, why).into_response()
}

fn json(message: &ServerJsonRpcMessage) -> Response {
    match serde_json::to_vec(message) {
        Ok(body) => ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response(),
        Err(error) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("the answer cannot be written: {error}")).into_response()
        }
    }
}
