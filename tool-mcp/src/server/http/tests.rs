//! The short way and rmcp's give the same answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use http::header;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tool_runtime::{CancellationToken, Dispatcher, RuntimeTool, Scope, tool};

use super::front::{Front, answer};
use super::head::Head;
use crate::server::handler::Nothing;
use crate::{Client, HttpConfig, Server};

#[derive(serde::Serialize, schemars::JsonSchema)]
struct N {
    n: i64,
}

/// Give back what is given.
#[tool]
fn echo(n: i64) -> N {
    N { n }
}

/// Have an argument that is said in the head, too.
#[tool]
fn headers(n: i64) -> N {
    N { n }
}

/// Fail.
#[tool]
fn fail() -> Result<(), String> {
    Err("not today".to_owned())
}

/// Say something that has to be written with care.
#[tool]
fn whole() -> String {
    "é \"x\"\n".to_owned()
}

/// Want somebody asked.
#[tool(sensitive)]
fn delete() {}

/// Wait forever.
#[tool]
async fn wait(n: usize) {
    let began = WAITED_FOR.lock().unwrap().remove(&n).unwrap();
    let (ends, ended) = oneshot::channel::<()>();
    began.send(ended).unwrap();
    std::future::pending::<()>().await;
    drop(ends);
}

/// Whoever wants to hear that a call of `wait` has begun; by what they get they hear of its end.
static WAITED_FOR: Mutex<BTreeMap<usize, oneshot::Sender<oneshot::Receiver<()>>>> = Mutex::new(BTreeMap::new());

fn wait_for(n: usize) -> oneshot::Receiver<oneshot::Receiver<()>> {
    let (began, begun) = oneshot::channel();
    WAITED_FOR.lock().unwrap().insert(n, began);
    begun
}

fn serve(config: &HttpConfig) -> Arc<Front<Nothing>> {
    let client = |(): (), scope: Scope| async move { scope.given::<Client>().is_some().to_string() };
    let tools = Dispatcher::builder().build().unwrap();
    tools.registry().register(RuntimeTool::scoped("client", "Know of the client.", client)).unwrap();
    let server = Server::new(tools).describe(|tool| {
        if tool.name == "headers" {
            let mut schema = json!(tool.input_schema);
            schema["properties"]["n"]["x-mcp-header"] = json!("N");
            tool.input_schema = Arc::new(schema.as_object().cloned().unwrap());
        }
    });
    Arc::new(server.front(config))
}

/// A request in the making.
#[derive(Clone, Debug)]
struct Asked {
    method: &'static str,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Asked {
    fn new(version: &str, headers: &[(&'static str, &str)], body: &Value) -> Self {
        let own = [
            ("host", "localhost:80"),
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
            ("mcp-protocol-version", version),
        ];
        let headers = own.iter().chain(headers).map(|(name, value)| (*name, (*value).to_owned())).collect();
        Self { method: "POST", headers, body: body.to_string() }
    }

    /// A call of a tool by a client of 2026-07-28.
    fn modern(tool: &str, arguments: Value) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        Self::new("2026-07-28", &[("mcp-method", "tools/call"), ("mcp-name", tool)], &body)
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    fn twice(mut self, name: &'static str) -> Self {
        let again = self.headers.iter().find(|(known, _)| *known == name).cloned();
        self.headers.extend(again);
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self
    }

    fn saying(mut self, pointer: &str, value: Value) -> Self {
        let mut body: Value = serde_json::from_str(&self.body).unwrap();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        body.pointer_mut(parent).unwrap()[key] = value;
        self.body = body.to_string();
        self
    }

    /// A request that does not say how long it is goes the long way.
    fn request(&self, says_length: bool) -> Request {
        let mut request = http::Request::builder().method(self.method).uri("/mcp");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if says_length {
            request = request.header(header::CONTENT_LENGTH, self.body.len());
        }
        request.body(Body::from(self.body.clone())).unwrap()
    }
}

/// What of an answer matters: its status, its kind and what it says, event by event.
async fn said(response: Response) -> (u16, Option<String>, Vec<Value>) {
    let status = response.status().as_u16();
    let kind = response.headers().get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap().to_owned());
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let texts = match kind.as_deref() {
        Some("text/event-stream") => body.lines().filter_map(|line| line.strip_prefix("data:")).collect(),
        _ => vec![body.as_str()],
    };
    let said = texts.iter().map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text.trim()))).collect();
    (status, kind, said)
}

/// Whether a call of 2026-07-28 goes the short way to its end.
async fn is_short(front: &Front<Nothing>, asked: &Asked) -> bool {
    let request = asked.request(true);
    if Head::of(&request, &front.hosts, front.max_body) != Some(Head::Of2026) {
        return false;
    }
    let (parts, _) = request.into_parts();
    match serde_json::from_str(&asked.body) {
        Ok(call) => front.call(&call, &parts).await.is_some(),
        Err(_) => false,
    }
}

#[tokio::test]
async fn calls_of_2026_are_answered_as_rmcp_answers_them() {
    let front = serve(&HttpConfig::new().max_body(10_000));
    let echo = || Asked::modern("echo", json!({"n": 1}));
    let short = [
        echo(),
        echo().saying("/id", json!("seven")),
        echo().with("host", "127.0.0.1"),
        echo().with("host", "[::1]:8080"),
        echo().with("content-type", "application/json; charset=utf-8"),
        Asked::modern("echo", json!({"n": "one"})),
        Asked::modern("echo", json!({"n": 1, "more": [null]})),
        Asked::modern("fail", json!({})),
        Asked::modern("fail", Value::Null),
        Asked::modern("echo", Value::Null),
        Asked::modern("whole", json!({})),
    ];
    let long = [
        Asked::modern("delete", json!({})),
        Asked::modern("client", json!({})),
        Asked::modern("headers", json!({"n": 1})),
        Asked::modern("headers", json!({"n": 1})).with("mcp-param-n", "1"),
        Asked::modern("headers", json!({"n": 1})).with("mcp-param-n", "2"),
        Asked::modern("nowhere", json!({})),
        echo().with("host", "evil.example"),
        echo().with("host", "localhost.evil.example"),
        echo().with("host", "localhost:80:90"),
        echo().without("host"),
        echo().with("origin", "http://evil.example"),
        echo().with("origin", "http://localhost:3000"),
        echo().with("accept", "application/json"),
        echo().without("accept"),
        echo().with("content-type", "text/plain"),
        echo().with("mcp-protocol-version", "2025-11-25"),
        echo().with("mcp-protocol-version", "2099-01-01"),
        echo().without("mcp-protocol-version"),
        echo().with("mcp-method", "tools/list"),
        echo().twice("mcp-method"),
        echo().without("mcp-method"),
        echo().with("mcp-name", "fail"),
        echo().with("mcp-name", "=?base64?ZWNobw==?="),
        echo().twice("mcp-name"),
        echo().without("mcp-name"),
        echo().with("mcp-session-id", "nobody"),
        echo().saying("/jsonrpc", json!("1.0")),
        echo().saying("/method", json!("tools/list")),
        echo().saying("/params/name", json!(7)),
        echo().saying("/params/arguments", json!([1])),
        echo().saying("/params/requestState", json!("forged")),
        echo().saying("/params/_meta", json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"})),
        echo().saying("/params/_meta", json!({})),
        echo().saying("/params/_meta/padding", json!("x".repeat(20_000))),
        Asked { method: "PUT", ..echo() },
        Asked { body: "no json".to_owned(), ..echo() },
        Asked { body: String::new(), ..echo() },
    ];
    for (asked, expected) in short.iter().map(|asked| (asked, true)).chain(long.iter().map(|asked| (asked, false))) {
        assert_eq!(is_short(&front, asked).await, expected, "{asked:?}");
        let ours = said(answer(State(front.clone()), asked.request(true)).await).await;
        let theirs = said(answer(State(front.clone()), asked.request(false)).await).await;
        assert_eq!(ours, theirs, "{asked:?}");
    }
}

#[tokio::test]
async fn calls_in_a_session_are_answered_as_rmcp_answers_them() {
    let front = serve(&HttpConfig::new());
    let client = json!({"name": "a client", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let begun = answer(State(front.clone()), Asked::new("2025-11-25", &[], &initialize).request(true)).await;
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    said(begun).await;
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let initialized = Asked::new("2025-11-25", &[("mcp-session-id", &session)], &initialized);
    assert_eq!(answer(State(front.clone()), initialized.request(true)).await.status(), 202);

    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        Asked::new("2025-11-25", &[("mcp-session-id", &session)], &body)
    };
    for (asked, short) in [
        (call("echo", json!({"n": 1})), true),
        (call("echo", json!({"n": "one"})), true),
        (call("fail", json!({})), true),
        (call("client", json!({})), true),
        (call("delete", json!({})), true),
        (call("nowhere", json!({})), true),
        (call("echo", json!({"n": 1})).with("mcp-session-id", "nobody"), true),
        (call("echo", json!({"n": 1})).saying("/params/arguments", json!("text")), true),
        (call("echo", json!({"n": 1})).with("host", "evil.example"), false),
        (call("echo", json!({"n": 1})).without("mcp-session-id"), false),
        (call("echo", json!({"n": 1})).with("mcp-protocol-version", "1999-01-01"), false),
    ] {
        let head = Head::of(&asked.request(true), &front.hosts, front.max_body);
        assert_eq!(head == Some(Head::Of2025), short, "{asked:?}");
        let ours = said(answer(State(front.clone()), asked.request(true)).await).await;
        let theirs = said(answer(State(front.clone()), asked.request(false)).await).await;
        assert_eq!(ours, theirs, "{asked:?}");
    }
}

/// The control is that it has begun, and waits.
#[tokio::test]
async fn a_client_that_goes_away_ends_its_call() {
    let (front, begun) = (serve(&HttpConfig::new()), wait_for(1));
    let running = tokio::spawn(answer(State(front), Asked::modern("wait", json!({"n": 1})).request(true)));
    let ended = begun.await.unwrap();
    assert!(!running.is_finished());
    running.abort();
    ended.await.unwrap_err();
}

#[tokio::test]
async fn a_server_that_stops_answers_what_it_has() {
    let stop = CancellationToken::new();
    let (front, begun) = (serve(&HttpConfig::new().stop(stop.clone())), wait_for(2));
    let running = tokio::spawn(answer(State(front), Asked::modern("wait", json!({"n": 2})).request(true)));
    let _ended = begun.await.unwrap();
    stop.cancel();
    let (status, _, messages) = said(running.await.unwrap()).await;
    assert_eq!((status, &messages[0]["result"]["isError"]), (200, &json!(true)), "{messages:?}");
}
