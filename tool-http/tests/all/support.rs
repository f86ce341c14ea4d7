//! Test tools, requests and event readers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::request::Builder as RequestBuilder;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use http_body_util::BodyExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;
use tool_http::{Api, Guard, Token};
use tool_runtime::{Builder, Dispatcher, Effect, HandlerError, Progress, RuntimeTool, tool, tool_class};
use tower::ServiceExt;

/// The caller, derived from the request.
pub struct User(pub String);

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Item {
    pub sku: String,
    /// The parts of the item.
    #[serde(default)]
    pub parts: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
pub struct Receipt {
    pub items: Vec<Item>,
}

/// The recorded effects of the tools.
#[derive(Clone, Default)]
pub struct Desk {
    pub purges: Arc<AtomicU32>,
    /// Notified when a handler that never ends is dropped.
    pub dropped: Arc<Notify>,
}

pub struct TellsWhenDropped(pub Arc<Notify>);

impl Drop for TellsWhenDropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tool_class(manual, prefix = "desk")]
impl Desk {
    /// Add two numbers.
    #[tool(read_only, category = "sums", tags = ["math", "quick"])]
    pub fn add(&self, a: i64, b: i64) -> i64 {
        a + b
    }

    /// Order items.
    #[tool(tags = ["shop"], instructions = "Ask before you order.", timeout = "5s")]
    pub fn order(&self, items: Vec<Item>) -> Receipt {
        Receipt { items }
    }

    /// Say what went wrong.
    #[tool(tags = ["math"])]
    pub fn fail(&self, fatally: bool) -> Result<(), HandlerError> {
        Err(if fatally { HandlerError::fatal("gone for good") } else { HandlerError::retry("not like this") })
    }

    /// Panic.
    pub fn panic(&self) {
        panic!("as asked");
    }

    /// Delete all points of a host.
    #[tool(sensitive, destructive, preview = "command")]
    pub fn purge(&self, host: &str, #[arg(secret)] password: Option<String>) -> String {
        self.purges.fetch_add(1, Ordering::SeqCst);
        format!("{host} is empty{}", if password.is_some() { ", as the password allows" } else { "" })
    }

    fn command(&self, host: &str, _password: Option<String>) -> Effect {
        Effect::Command(format!("purge {host}"))
    }

    /// Count, and report each number.
    pub async fn count(&self, to: u32, #[inject] progress: &Progress) -> String {
        for number in 1..=to {
            progress.report(number);
        }
        format!("counted to {to}")
    }

    /// Report once, and never end.
    pub async fn wait(&self, #[inject] progress: &Progress) {
        let _tells = TellsWhenDropped(self.dropped.clone());
        progress.report("waiting");
        std::future::pending::<()>().await;
    }

    /// Return the name of the user.
    pub fn who(&self, #[inject] user: &User) -> String {
        user.0.clone()
    }
}

/// A tool that fails with a retry delay.
pub fn overloaded() -> RuntimeTool {
    RuntimeTool::new("overloaded", "Say when there is room again.", |(): ()| async {
        Err::<(), _>(HandlerError::failed("no room at the moment").with_retry_after(Duration::from_millis(1_500)))
    })
}

/// A dispatcher with the desk.
pub fn builder(desk: &Desk) -> Builder {
    Dispatcher::builder().manifest(tool_runtime::Manifest::default()).also(desk.clone()).per_call::<User>()
}

pub fn tools() -> Dispatcher {
    builder(&Desk::default()).build().unwrap()
}

/// A router as an application mounts it.
pub fn mounted(api: Api) -> Router {
    Router::new().nest("/api", api.into_router())
}

pub fn router() -> Router {
    mounted(Api::new(tools()))
}

pub const LOCAL: [u8; 4] = [127, 0, 0, 1];
pub const REMOTE: [u8; 4] = [203, 0, 113, 7];

/// A request from this machine.
pub fn request(method: &str, path: &str) -> RequestBuilder {
    request_from(LOCAL, method, path)
}

pub fn request_from(address: [u8; 4], method: &str, path: &str) -> RequestBuilder {
    let peer = ConnectInfo(SocketAddr::from((address, 40_000)));
    Request::builder().method(method).uri(path).extension(peer).header("host", "localhost:3000")
}

pub fn get(path: &str) -> Request<Body> {
    request("GET", path).body(Body::empty()).unwrap()
}

pub fn post(path: &str, body: &Value) -> Request<Body> {
    json(request("POST", path), body)
}

pub fn json(request: RequestBuilder, body: &Value) -> Request<Body> {
    request.header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns status and kind of a problem, and checks that it is complete.
    pub fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16(), "{self:?}");
        assert!(problem["title"].is_string(), "{self:?}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.len() > 8), "{self:?}");
        (self.status.as_u16(), problem["kind"].as_str().unwrap().to_owned())
    }
}

pub async fn send(router: &Router, request: Request<Body>) -> Answer {
    let response = router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Answer { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.into()).unwrap() }
}

/// A token.
pub const SECRET: &str = "correct-horse-battery";

pub fn token() -> Token {
    Token::new(SECRET).unwrap()
}

/// A router behind a guard.
pub fn guarded(guard: Guard) -> Router {
    mounted(Api::new(tools()).guard(guard))
}

/// A request for the list, with another host.
pub fn list(from: [u8; 4], host: &str) -> RequestBuilder {
    let mut request = request_from(from, "GET", "/api/tools");
    request.headers_mut().unwrap().insert(header::HOST, HeaderValue::from_str(host).unwrap());
    request
}

/// Returns `ok` or the kind of the problem.
pub async fn outcome(router: &Router, request: RequestBuilder) -> String {
    said(router, request.body(Body::empty()).unwrap()).await
}

pub async fn said(router: &Router, request: Request<Body>) -> String {
    let answer = send(router, request).await;
    if answer.status == StatusCode::OK { "ok".to_owned() } else { answer.problem().1 }
}

/// A response that is read event by event.
pub struct Stream {
    body: Body,
    read: String,
    /// The last received id, with or without an event, as a browser sends it on reconnect.
    pub last_id: String,
}

/// One event.
#[derive(Debug, PartialEq)]
pub struct Sent {
    pub name: String,
    pub id: String,
    pub data: Value,
}

impl Stream {
    pub async fn open(router: &Router, request: Request<Body>) -> Self {
        let response = router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), read: String::new(), last_id: String::new() }
    }

    /// Returns the next event, or `None` at the end.
    pub async fn next(&mut self) -> Option<Sent> {
        loop {
            let sent = self.next_block().await?;
            if !sent.name.is_empty() {
                return Some(sent);
            }
        }
    }

    /// Returns the next event, or an id without one.
    pub async fn next_block(&mut self) -> Option<Sent> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.read = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("");
                if !field("id: ").is_empty() {
                    self.last_id = field("id: ").to_owned();
                }
                let data = match field("data: ") {
                    "" => Value::Null,
                    data => serde_json::from_str(data).unwrap(),
                };
                return Some(Sent { name: field("event: ").to_owned(), id: field("id: ").to_owned(), data });
            }
            let frame = self.body.frame().await?.unwrap();
            self.read.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    pub async fn all(mut self) -> Vec<Sent> {
        let mut all = Vec::new();
        while let Some(sent) = self.next().await {
            all.push(sent);
        }
        all
    }
}

/// Serves a router on a port of this machine.
pub async fn serve(router: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    address
}
