//! The fast path for tool calls over HTTP.
//!
//! rmcp handles every kind of request, at a cost: it tries one kind of message after the other, and starts a service for
//! each call of a 2026-07-28 client. A well-formed tool call is instead parsed in one pass and dispatched directly.
//! Everything else goes to rmcp, which also produces the errors for invalid requests. The fast path never accepts a
//! request that rmcp would refuse.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, ProtocolVersion, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::Semaphore;
use tool_runtime::CancellationToken;

use super::local;
use super::sse_response::sse_response;
use crate::server::call_handler::{call_response, tool_call};
use crate::server::request_parser::{StrictObject, ToolsCallParams, ToolsCallRequest, tools_call};
use crate::server::{ServerSession, ServerShared};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The header with the session id of a 2025 client.
pub(in crate::server) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The prefix of an encoded tool name.
const ENCODED_PREFIX: &str = "=?";

/// The entry point of all requests.
pub(super) struct HttpFrontend<H: ServerHandler> {
    pub(super) shared: Arc<ServerShared<H>>,
    pub(super) hosts: AllowedHosts,
    /// Serve only requests from this machine.
    pub(super) local_only: bool,
    pub(super) max_body: usize,
    pub(super) permits: Arc<Semaphore>,
    pub(super) sessions: Arc<LocalSessionManager>,
    pub(super) stop: CancellationToken,
    pub(super) rmcp: StreamableHttpService<ServerSession<H>, LocalSessionManager>,
}

/// Handles a request, on the fast path if possible.
pub(super) async fn handle<H: ServerHandler>(State(front): State<Arc<HttpFrontend<H>>>, request: Request) -> Response {
    if front.local_only
        && let Some(refused) = local::refusal(&request)
    {
        return refused;
    }
    let Some(head) = CallHead::parse(&request, &front.hosts, front.max_body) else {
        return front.forward(request).await;
    };
    let (parts, body) = request.into_parts();
    let body = match to_bytes(body, front.max_body).await {
        Ok(body) => body,
        Err(error) => return (StatusCode::BAD_REQUEST, format!("cannot read the body: {error}")).into_response(),
    };
    let parts = match tools_call(&body) {
        None => parts,
        Some(call) => match head {
            CallHead::Stateless => match front.call(&call, &parts).await {
                Some(response) => return response,
                None => parts,
            },
            CallHead::InSession => match front.call_in_session(call, parts).await {
                Ok(response) => return response,
                Err(parts) => parts,
            },
        },
    };
    front.forward(Request::from_parts(parts, Body::from(body))).await
}

impl<H: ServerHandler> HttpFrontend<H> {
    async fn forward(&self, request: Request) -> Response {
        let (host, origin) = host_and_origin(&request);
        let response = self.rmcp.handle(request).await.map(Body::new);
        match response.status() {
            StatusCode::FORBIDDEN => forbidden(host.as_ref(), origin.as_ref()),
            _ => response,
        }
    }

    /// Runs a call without a session that needs nothing from its client. Returns `None` if it must go to rmcp.
    pub(super) async fn call(&self, call: &ToolsCallRequest<'_>, parts: &Parts) -> Option<Response> {
        let ToolsCallRequest { id, params: StrictObject(ToolsCallParams { meta, name, arguments }), .. } = call;
        let meta = meta.as_ref()?;
        let version = &ProtocolVersion::V_2026_07_28;
        let is_regular = meta.protocol_version().as_ref() == Some(version)
            && meta.missing_required_keys(version).is_empty()
            && meta.get_progress_token().is_none()
            && CallHead::names_tool(&parts.headers, name);
        if !is_regular {
            return None;
        }
        let listing = self.shared.listings.current(&self.shared.tools).ok()?;
        let listed = listing.get(name)?;
        if self.shared.needs_approval(listed) || listed.sees_client || listed.has_headers {
            return None;
        }
        let _permit = self.permits.try_acquire().ok()?;
        let text = Cow::Borrowed(arguments.map_or("{}", |arguments| arguments.get()));
        let call = tool_call(listed, name, text, None, id, meta);
        let result = self.shared.tools.call(call).cancel(self.stop.clone()).await;
        let id = id.clone();
        Some(json(&match call_response(result, listed, |result| self.shared.tools.whole_output(None, result)) {
            Ok(result) => ServerJsonRpcMessage::response(ServerResult::from(result), id),
            Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
        }))
    }

    /// Runs a call in its session. Returns the request head if it must go to rmcp.
    async fn call_in_session(&self, call: ToolsCallRequest<'_>, parts: Parts) -> Result<Response, Parts> {
        let Some(session) = CallHead::session(&parts.headers) else { return Err(parts) };
        let is_stateless = call.params.0.meta.as_ref().is_some_and(|meta| meta.protocol_version().is_some());
        if is_stateless || !self.sessions.has_session(&session).await.unwrap_or(false) {
            return Err(parts);
        }
        let mut message = ClientJsonRpcMessage::from(call);
        if let ClientJsonRpcMessage::Request(request) = &mut message {
            request.request.extensions_mut().insert(parts);
        }
        Ok(match self.sessions.create_stream(&session, message).await {
            Ok(messages) => sse_response(messages, self.stop.clone()),
            Err(error) => {
                tracing::warn!(%error, "a session rejected a call");
                (StatusCode::INTERNAL_SERVER_ERROR, format!("the session rejected the call: {error}")).into_response()
            }
        })
    }
}

/// Returns the host and the origin of a request.
fn host_and_origin(request: &Request) -> (Option<HeaderValue>, Option<HeaderValue>) {
    let header = |name| request.headers().get(name).cloned();
    // Over HTTP/2 the host is part of the URI.
    let in_uri = || HeaderValue::from_str(request.uri().authority()?.as_str()).ok();
    (header(header::HOST).or_else(in_uri), header(header::ORIGIN))
}

/// Returns the response to a request with an unknown host or origin.
fn forbidden(host: Option<&HeaderValue>, origin: Option<&HeaderValue>) -> Response {
    let shown = |value: &HeaderValue| format!("`{}`", String::from_utf8_lossy(value.as_bytes()));
    let host = host.map_or_else(|| "a missing host".to_owned(), shown);
    let origin = origin.map(|origin| format!(" from origin {}", shown(origin))).unwrap_or_default();
    let why = format!(
        "Forbidden: this server does not accept requests for {host}{origin}. Allow them with `HttpConfig::host` and \
         `HttpConfig::origin`."
    );
    (StatusCode::FORBIDDEN, why).into_response()
}

fn json(message: &ServerJsonRpcMessage) -> Response {
    match serde_json::to_vec(message) {
        Ok(body) => ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response(),
        Err(error) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("cannot serialize the response: {error}")).into_response()
        }
    }
}

/// The hosts for which a server accepts requests: any, or a list.
pub(super) struct AllowedHosts(Option<Vec<Authority>>);

impl AllowedHosts {
    pub(super) fn any() -> Self {
        Self(None)
    }

    /// Hosts that cannot be parsed are left to rmcp.
    pub(super) fn new(hosts: &[String]) -> Self {
        Self(Some(hosts.iter().filter_map(|host| host.parse().ok()).collect()))
    }

    /// Returns `true` if a request is for one of the hosts. A host without a port allows every port.
    fn contains(&self, headers: &HeaderMap) -> bool {
        let Some(host) = single_header(headers, &header::HOST) else { return false };
        let Some(known) = &self.0 else { return host.parse::<Authority>().is_ok() };
        known.iter().any(|known| match host.strip_prefix(known.as_str()) {
            Some("") => true,
            Some(rest) => {
                known.port().is_none() && rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
            }
            None => false,
        })
    }
}

/// The kind of a tool call that is eligible for the fast path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CallHead {
    /// A call of a 2025 client, in a session.
    InSession,
    /// A call of a 2026-07-28 client.
    Stateless,
}

impl CallHead {
    /// Returns `None` if the request is not a tool call or is not eligible for the fast path.
    pub(super) fn parse(request: &Request, hosts: &AllowedHosts, max_body: usize) -> Option<Self> {
        let headers = request.headers();
        let has = |name, part: &str| single_header(headers, &name).is_some_and(|value| value.contains(part));
        let length: usize = single_header(headers, &header::CONTENT_LENGTH)?.parse().ok()?;
        // A browser's request has an origin, which rmcp must check.
        let is_regular = request.method() == Method::POST
            && hosts.contains(headers)
            && !headers.contains_key(header::ORIGIN)
            && has(header::ACCEPT, "application/json")
            && has(header::ACCEPT, "text/event-stream")
            && single_header(headers, &header::CONTENT_TYPE).is_some_and(|value| value.starts_with("application/json"))
            && length <= max_body;
        match single_header(headers, &VERSION)? {
            _ if !is_regular => None,
            "2025-06-18" | "2025-11-25" if headers.contains_key(SESSION) => Some(Self::InSession),
            "2026-07-28" if single_header(headers, &METHOD) == Some("tools/call") && !headers.contains_key(SESSION) => {
                Some(Self::Stateless)
            }
            _ => None,
        }
    }

    /// Returns `true` if the request head of a 2026-07-28 call names this tool.
    pub(super) fn names_tool(headers: &HeaderMap, tool: &str) -> bool {
        single_header(headers, &NAME) == Some(tool) && !tool.starts_with(ENCODED_PREFIX)
    }

    /// Returns the session of a request.
    pub(super) fn session(headers: &HeaderMap) -> Option<Arc<str>> {
        single_header(headers, &SESSION).map(Arc::from)
    }
}

/// Returns the value of a header that occurs once and is a string.
fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value: &HeaderValue = values.next()?;
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok()
}
