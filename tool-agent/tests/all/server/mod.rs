//! A local server that simulates the providers: in their wire formats, with and without streaming, with their errors.
//! Its replies are scripted. It records requests, and rejects histories that the provider would reject.

mod anthropic;
mod gemini;
mod openai;
mod reply;
mod rules;

use std::collections::VecDeque;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

pub use reply::{Called, End, Reply, Said};

/// The valid API key. It must not appear in any error or log.
pub const KEY: &str = "sk-very-secret-0123456789";

/// A provider's wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    OpenAi,
    Anthropic,
    Gemini,
}

impl Wire {
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    fn from_path(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::OpenAi),
            "/v1/messages" => Some(Self::Anthropic),
            path if path.starts_with("/v1beta/models/") => Some(Self::Gemini),
            _ => None,
        }
    }

    fn has_key(self, headers: &HeaderMap) -> bool {
        let is = |name: &str, value: &str| headers.get(name).is_some_and(|given| given == value);
        match self {
            Self::OpenAi => is("authorization", &format!("Bearer {KEY}")),
            Self::Anthropic => is("x-api-key", KEY) && is("anthropic-version", "2023-06-01"),
            Self::Gemini => is("x-goog-api-key", KEY),
        }
    }

    fn whole(self, said: &Said) -> Value {
        match self {
            Self::OpenAi => openai::whole(said),
            Self::Anthropic => anthropic::whole(said),
            Self::Gemini => gemini::whole(said),
        }
    }

    /// Returns the events of a stream, as text.
    fn events(self, said: &Said) -> Vec<String> {
        match self {
            Self::OpenAi => openai::events(said),
            Self::Anthropic => anthropic::events(said),
            Self::Gemini => gemini::events(said),
        }
    }

    fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::OpenAi => openai::error(status, message),
            Self::Anthropic => anthropic::error(status, message),
            Self::Gemini => gemini::error(status, message),
        }
    }
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    pub wire: Wire,
    pub is_streamed: bool,
    pub body: Value,
}

/// The server. Dropping it stops it.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: AbortHandle,
}

struct Shared {
    script: Mutex<VecDeque<Reply>>,
    received: Mutex<Vec<Received>>,
}

impl Server {
    /// Starts a server with these replies, in order.
    pub async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let script = Mutex::new(script.into_iter().collect());
        let shared = Arc::new(Shared { script, received: Mutex::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await }).abort_handle();
        Self { address, shared, serving }
    }

    /// Returns the base URL for a provider's client.
    pub fn base_url(&self, wire: Wire) -> String {
        match wire {
            Wire::OpenAi => format!("http://{}/v1", self.address),
            Wire::Anthropic | Wire::Gemini => format!("http://{}", self.address),
        }
    }

    /// Returns the address, without a path.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Replaces the remaining replies.
    pub fn follow(&self, script: impl IntoIterator<Item = Reply>) {
        *self.shared.script.lock().expect("not poisoned") = script.into_iter().collect();
    }

    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().expect("not poisoned").clone()
    }

    /// Returns how many replies are left.
    pub fn left(&self) -> usize {
        self.shared.script.lock().expect("not poisoned").len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Shared {
    fn next(&self) -> Reply {
        let mut script = self.script.lock().expect("not poisoned");
        match script.pop_front() {
            Some(Reply::Forever(reply)) => {
                let one = (*reply).clone();
                script.push_front(Reply::Forever(reply));
                one
            }
            Some(reply) => reply,
            None => Reply::status(418).saying("the script is at its end"),
        }
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(wire) = Wire::from_path(parts.uri.path()) else { return plain(StatusCode::NOT_FOUND, "no such path") };
    if !wire.has_key(&parts.headers) {
        return failure(wire, &Reply::status(401).saying("the key is wrong"));
    }
    let bytes = axum::body::to_bytes(body, 10_000_000).await.expect("the request is whole");
    let body: Value = serde_json::from_slice(&bytes).expect("the request is JSON");
    let is_streamed = match wire {
        Wire::OpenAi | Wire::Anthropic => body["stream"] == true,
        Wire::Gemini => parts.uri.path().ends_with(":streamGenerateContent") && parts.uri.query() == Some("alt=sse"),
    };
    let broken = rules::broken(wire, &body);
    shared.received.lock().expect("not poisoned").push(Received { wire, is_streamed, body });
    if let Some(rule) = broken {
        return failure(wire, &Reply::status(400).saying(rule));
    }
    match shared.next() {
        Reply::Said(said) if is_streamed => streamed(wire, &said),
        Reply::Said(said) => whole(wire, &said),
        Reply::Events(events) => {
            let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
            sent("text/event-stream", text.into_bytes(), End::Quiet)
        }
        Reply::Moved(to) => moved(&format!("{to}{}", parts.uri.path())),
        Reply::Silence => pending().await,
        Reply::Forever(_) => unreachable!("it is unwrapped"),
        status @ Reply::Status { .. } => failure(wire, &status),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

fn moved(to: &str) -> Response {
    let response = Response::builder().status(StatusCode::TEMPORARY_REDIRECT).header(header::LOCATION, to);
    response.body(Body::empty()).expect("it is a response")
}

fn failure(wire: Wire, reply: &Reply) -> Response {
    let Reply::Status { status, retry_after, message } = reply else { unreachable!("only failures come here") };
    let mut response = Response::builder().status(*status).header(header::CONTENT_TYPE, "application/json");
    if let Some(retry_after) = retry_after {
        response = response.header(header::RETRY_AFTER, retry_after.as_str());
    }
    response.body(Body::from(wire.error(*status, message).to_string())).expect("it is a response")
}

fn whole(wire: Wire, said: &Said) -> Response {
    let mut text = wire.whole(said).to_string().into_bytes();
    if said.end != End::Complete {
        text.truncate(text.len() / 2);
    }
    sent("application/json", text, said.end)
}

fn streamed(wire: Wire, said: &Said) -> Response {
    let mut events = wire.events(said);
    if let Some(kept) = said.events {
        events.truncate(kept);
    }
    if let End::Failed = said.end {
        let error = wire.error(529, "overloaded");
        events.push(format!("event: error\ndata: {error}\n\n"));
    }
    // A keep-alive comment, as OpenRouter sends it.
    let text = format!(": PROCESSING\n\n{}", events.concat());
    sent("text/event-stream", text.into_bytes(), said.end)
}

/// Sends a few bytes at a time, so that events and characters are split.
fn sent(kind: &str, bytes: Vec<u8>, end: End) -> Response {
    let pieces: Vec<Bytes> = bytes.chunks(13).map(Bytes::copy_from_slice).collect();
    let pieces = stream::iter(pieces).map(Ok::<_, String>);
    let body = match end {
        End::Complete | End::Quiet | End::Failed => Body::from_stream(pieces),
        End::Broken => Body::from_stream(pieces.chain(stream::iter([Err("the line is dead".to_owned())]))),
        End::Stalled => Body::from_stream(pieces.chain(stream::once(pending::<Result<Bytes, String>>()))),
    };
    let response = Response::builder().header(header::CONTENT_TYPE, kind).body(body);
    response.expect("it is a response")
}
