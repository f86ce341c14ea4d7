//! Streamable HTTP: adds limits, session handling and stream resumption to rmcp's client.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderName, HeaderValue, StatusCode, header};
use futures_core::stream::BoxStream;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tool_runtime::CancellationToken;

use super::http_error::http_error;
use super::monitor::{ConnectionMonitor, TOO_LONG};
use super::response_parser;
use super::resume::{ResumePoints, ResumedStream, StreamRetryPolicy};
use super::server_stream::ServerStream;
use super::sse;
use crate::remote::endpoint::HttpEndpoint;
use crate::remote::failure::withheld_error;
use crate::remote::mcp_tool::McpTool;

pub(super) type Error = StreamableHttpError<reqwest::Error>;

const SESSION: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// The most concurrent requests. A low limit would let slow calls block listings and other calls.
const MAX_CONCURRENT: usize = 256;

/// Creates a transport to a URL. Cancelling `stop` ends all waiting.
pub(in crate::remote) fn connect(
    http: &HttpEndpoint,
    longest: usize,
    monitor: &Arc<ConnectionMonitor>,
    stop: &CancellationToken,
) -> Result<impl Transport<RoleClient, Error = Error> + 'static, String> {
    let url = url::Url::parse(&http.url).map_err(|error| format!("invalid `url`: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the scheme of {} must be `http` or `https`", http.redacted_url()));
    }
    let mut headers = HashMap::new();
    for (name, value) in &http.headers {
        let parsed = (HeaderName::try_from(name), HeaderValue::try_from(value));
        let (Ok(parsed_name), Ok(mut value)) = parsed else {
            return Err(format!("the header {name:?} has an invalid name or value"));
        };
        value.set_sensitive(true);
        headers.insert(parsed_name, value);
    }
    let client = http_client().map_err(|error| error.to_string())?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(http.url.as_str()).custom_headers(headers);
    config.max_sse_event_size = longest;
    config.retry_config = Arc::new(StreamRetryPolicy::new(monitor.clone()));
    config.max_concurrent_requests = MAX_CONCURRENT;
    // The tools may differ in a new session, so it needs a new connection, which starts with a listing.
    config.reinit_on_expired_session = false;
    let (monitor, stop) = (monitor.clone(), stop.clone());
    let (server_stream, resume_points) = (Arc::default(), Arc::default());
    let client = LimitedClient { client, longest, monitor, stop, server_stream, resume_points };
    #[cfg(feature = "auth")]
    let client = super::authorized_client::AuthorizedClient::new(client, http.access.clone());
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Builds the HTTP client.
fn http_client() -> Result<Client, Box<dyn std::error::Error>> {
    let mut tls = tool_net::tls::client_config()?;
    // Only HTTP/1.1 is offered, which every MCP server speaks.
    tls.alpn_protocols.clear();
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(same_origin())
        .referer(false)
        .connect_timeout(Duration::from_secs(10))
        // No decompression: the length limit applies to the received bytes.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    Ok(client.build()?)
}

/// Follows redirects only if they keep method and body, and only within the same origin, because headers may be secrets.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let keeps_body = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let from = attempt.previous().first().map(url::Url::origin);
        if !keeps_body || from != Some(attempt.url().origin()) {
            attempt.stop()
        } else if attempt.previous().len() > 5 {
            attempt.error("too many redirects")
        } else {
            attempt.follow()
        }
    })
}

/// A client that buffers at most one message of the allowed length.
#[derive(Clone)]
struct LimitedClient {
    client: Client,
    longest: usize,
    monitor: Arc<ConnectionMonitor>,
    /// rmcp would wait forever for the response to the first request.
    stop: CancellationToken,
    server_stream: Arc<ServerStream>,
    resume_points: Arc<ResumePoints>,
}

impl StreamableHttpClient for LimitedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let mut request = self.client.post(&*uri).header(header::ACCEPT, format!("{EVENTS}, {JSON}")).json(&message);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let in_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION, &*session);
        }
        if in_session && request_id(&message).is_some() {
            self.server_stream.wait_for_attempt().await;
        }
        let response = async {
            if let Some(Err(withheld)) = called_tool(&message).map(|tool| tool.check()) {
                return Err(withheld_error(withheld));
            }
            let response = request.send().await?;
            match response.status() {
                StatusCode::ACCEPTED | StatusCode::NO_CONTENT => self.accepted(&message, in_session),
                status if status.is_success() => self.parse_response(response, &message).await,
                status => {
                    let parsed = http_error(response, &message, in_session).await?;
                    if in_session && status == StatusCode::NOT_FOUND {
                        // This may concern the session after all; listing the tools will show it.
                        self.monitor.tools_changed.notify_one();
                    }
                    Ok(parsed)
                }
            }
        };
        match self.stop.run_until_cancelled(response).await {
            None => Err(StreamableHttpError::TransportChannelClosed),
            Some(Err(StreamableHttpError::SessionExpired)) => Err(self.expired(&message)),
            Some(response) => response,
        }
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        _longest: usize,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.post_message(uri, message, session, token, headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        if self.monitor.session_expired.is_cancelled() {
            return Ok(());
        }
        self.client.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let _attempted = self.server_stream.attempt();
        let Some(attempt) = self.resume_points.next_attempt(last_event.as_deref()).await else {
            self.monitor.tools_changed.notify_one();
            // The most fitting of the errors that rmcp does not retry.
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        };
        let (client, longest) = (&self.client, self.longest);
        let events =
            client.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, longest).await?;
        Ok(Box::pin(ResumedStream::new(events, self.resume_points.clone(), attempt, self.server_stream.opened())))
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        _longest: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        self.get_stream(uri, session, last_event, token, headers).await
    }
}

impl LimitedClient {
    /// Handles `202 Accepted`. The response to a request may come over a stream of the session; without an open stream it
    /// never comes.
    fn accepted(&self, message: &ClientJsonRpcMessage, in_session: bool) -> Result<StreamableHttpPostResponse, Error> {
        if request_id(message).is_some() && !(in_session && self.server_stream.is_open()) {
            let why = "accepted the request, but there is no stream for the response";
            return Err(StreamableHttpError::UnexpectedServerResponse(why.into()));
        }
        Ok(StreamableHttpPostResponse::Accepted)
    }

    /// Handles an unknown session. If it concerns a request, the connection is over. Otherwise the server may mean
    /// something else, and listing the tools will show it.
    fn expired(&self, message: &ClientJsonRpcMessage) -> Error {
        match request_id(message) {
            Some(_) => self.monitor.session_expired.cancel(),
            None => self.monitor.tools_changed.notify_one(),
        }
        StreamableHttpError::SessionExpired
    }

    async fn parse_response(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let content_type = content_type(&response);
        let request = request_id(message);
        let too_long = request.clone().map(|id| {
            let text = format!("response exceeds the limit of {} bytes", self.longest);
            ServerJsonRpcMessage::error(ErrorData::new(TOO_LONG, text, None), Some(id))
        });
        if content_type.as_deref().is_some_and(|value| value.starts_with(EVENTS)) {
            return Ok(StreamableHttpPostResponse::Sse(
                sse::events(response, self.longest, too_long, &self.stop),
                session,
            ));
        }
        if request.is_none() {
            // The message was not a request, so any body is meaningless.
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !content_type.as_deref().is_some_and(|value| value.starts_with(JSON)) {
            return Err(StreamableHttpError::UnexpectedContentType(content_type));
        }
        let parsed = match (read_body(response, self.longest).await?, too_long) {
            (Some(body), _) => response_parser::message(&body)?,
            (None, Some(too_long)) => too_long,
            (None, None) => return Ok(StreamableHttpPostResponse::Accepted),
        };
        Ok(StreamableHttpPostResponse::Json(parsed, session))
    }
}

/// Reads the body, or returns `None` if it exceeds the limit.
pub(super) async fn read_body(mut response: Response, longest: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > longest {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

fn content_type(response: &Response) -> Option<String> {
    let value = response.headers().get(header::CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase())
}

pub(super) fn request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

/// Returns the tool that a call was checked against. The call may have waited long for a login or a permit.
fn called_tool(message: &ClientJsonRpcMessage) -> Option<&Arc<McpTool>> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CallToolRequest(call) = &request.request else { return None };
    call.extensions.get()
}
