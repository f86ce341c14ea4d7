//! Streamable HTTP. rmcp speaks it; here is what it leaves open: how much is read of an answer, and where to.

use std::collections::HashMap;
use std::sync::Arc;

use ::http::{HeaderName, HeaderValue, StatusCode, header};
use futures_core::stream::BoxStream;
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

use super::client::client;
use super::refusal::refusal;
use super::resume::{Places, Resume, Watched};
use super::unasked::Unasked;
use super::wire::{TOO_LONG, Wire};
use super::{read, sse};
use crate::remote::failure::withhold;
use crate::remote::listed::Listed;
use crate::remote::reached::Http;

pub(super) type Error = StreamableHttpError<reqwest::Error>;

const SESSION: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// How many requests may wait for their answers. With few, slow calls would keep the list and all other calls waiting.
const AT_ONCE: usize = 256;

/// A transport to the URL; what is wrong with it is said in words. Nothing is waited for once `stop` is cancelled.
pub(in crate::remote) fn connect(
    http: &Http,
    longest: usize,
    wire: &Arc<Wire>,
    stop: &CancellationToken,
) -> Result<impl Transport<RoleClient, Error = Error> + 'static, String> {
    let url = url::Url::parse(&http.url).map_err(|error| format!("its `url` is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("{} is no URL of `http` or `https`", http.bare_url()));
    }
    let mut headers = HashMap::new();
    for (name, value) in &http.headers {
        let parsed = (HeaderName::try_from(name), HeaderValue::try_from(value));
        let (Ok(parsed_name), Ok(mut value)) = parsed else {
            return Err(format!("the header {name:?} has a name or a value that no header can have"));
        };
        value.set_sensitive(true);
        headers.insert(parsed_name, value);
    }
    let client = client().map_err(|error| error.to_string())?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(http.url.as_str()).custom_headers(headers);
    config.max_sse_event_size = longest;
    config.retry_config = Arc::new(Resume::new(wire.clone()));
    config.max_concurrent_requests = AT_ONCE;
    // In a new session the tools may be others: it begins with a list of them, as every connection does.
    config.reinit_on_expired_session = false;
    let (wire, stop) = (wire.clone(), stop.clone());
    let client = Bounded { client, longest, wire, stop, unasked: Arc::default(), places: Arc::default() };
    #[cfg(feature = "auth")]
    let client = super::authorized::Authorized::new(client, http.access.clone());
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// A client that reads no more than a message of the allowed length.
#[derive(Clone)]
struct Bounded {
    client: Client,
    longest: usize,
    wire: Arc<Wire>,
    /// rmcp waits for the answer to the first request for ever, whoever has gone meanwhile.
    stop: CancellationToken,
    unasked: Arc<Unasked>,
    /// Where streams were taken up again.
    places: Arc<Places>,
}

impl StreamableHttpClient for Bounded {
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
            self.unasked.until_tried().await;
        }
        let answer = async {
            if let Some(Err(withheld)) = called(&message).map(|tool| tool.check()) {
                return Err(withhold(withheld));
            }
            let response = request.send().await?;
            match response.status() {
                StatusCode::ACCEPTED | StatusCode::NO_CONTENT => self.accepted(&message, in_session),
                status if status.is_success() => self.answer(response, &message).await,
                status => {
                    let answer = refusal(response, &message, in_session).await?;
                    if in_session && status == StatusCode::NOT_FOUND {
                        // It may mean the session all the same: the list of its tools will show that.
                        self.wire.changed.notify_one();
                    }
                    Ok(answer)
                }
            }
        };
        match self.stop.run_until_cancelled(answer).await {
            None => Err(StreamableHttpError::TransportChannelClosed),
            Some(Err(StreamableHttpError::SessionExpired)) => Err(self.expired(&message)),
            Some(answer) => answer,
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
        if self.wire.forgotten.is_cancelled() {
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
        let _tried = self.unasked.tried();
        let Some(attempt) = self.places.go_on(last_event.as_deref()).await else {
            self.wire.changed.notify_one();
            // Of the errors that rmcp takes for final this is the one that fits: it does not bring us what it should.
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        };
        let (client, longest) = (&self.client, self.longest);
        let events =
            client.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, longest).await?;
        Ok(Box::pin(Watched::new(events, self.places.clone(), attempt, self.unasked.opened())))
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

impl Bounded {
    /// What the server has taken. If it is a request, the answer may come over a stream of the session: where there is
    /// none, it never does.
    fn accepted(&self, message: &ClientJsonRpcMessage, in_session: bool) -> Result<StreamableHttpPostResponse, Error> {
        if request_id(message).is_some() && !(in_session && self.unasked.is_heard()) {
            return Err(StreamableHttpError::UnexpectedServerResponse("it took it, and will not answer".into()));
        }
        Ok(StreamableHttpPostResponse::Accepted)
    }

    /// The server does not know our session. A request that it refuses for this is the end of the connection; of what
    /// is no request it may mean something else, and is asked for its tools, which will show it.
    fn expired(&self, message: &ClientJsonRpcMessage) -> Error {
        match request_id(message) {
            Some(_) => self.wire.forgotten.cancel(),
            None => self.wire.changed.notify_one(),
        }
        StreamableHttpError::SessionExpired
    }

    async fn answer(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let kind = content_type(&response);
        let request = request_id(message);
        let too_long = request.clone().map(|id| {
            let text = format!("the answer is longer than {} bytes", self.longest);
            ServerJsonRpcMessage::error(ErrorData::new(TOO_LONG, text, None), Some(id))
        });
        if kind.as_deref().is_some_and(|kind| kind.starts_with(EVENTS)) {
            return Ok(StreamableHttpPostResponse::Sse(
                sse::events(response, self.longest, too_long, &self.stop),
                session,
            ));
        }
        if request.is_none() {
            // What was sent is no request: whatever else comes back answers nothing.
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !kind.as_deref().is_some_and(|kind| kind.starts_with(JSON)) {
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        let answer = match (body_of(response, self.longest).await?, too_long) {
            (Some(body), _) => read::message(&body)?,
            (None, Some(too_long)) => too_long,
            (None, None) => return Ok(StreamableHttpPostResponse::Accepted),
        };
        Ok(StreamableHttpPostResponse::Json(answer, session))
    }
}

/// The body, unless it is longer than allowed.
pub(super) async fn body_of(mut response: Response, longest: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
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

/// The tool that a call was checked against. It may have waited long: for a login, or for others.
fn called(message: &ClientJsonRpcMessage) -> Option<&Arc<Listed>> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CallToolRequest(call) = &request.request else { return None };
    call.extensions.get()
}
