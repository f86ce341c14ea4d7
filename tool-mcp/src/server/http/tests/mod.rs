//! The short way of calls.

mod ends;
mod same;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::response::Response;
use http::header;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tool_runtime::{CancellationToken, Dispatcher, RuntimeTool, Scope, tool};

use super::front::{Front, answer};
use super::head::Head;
use crate::server::handler::Nothing;
use crate::server::read::tools_call;
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

/// Wait until somebody lets it go.
#[tool]
async fn wait(n: usize) {
    let begun = WAITED_FOR.lock().unwrap().remove(&n).unwrap();
    let ((ends, ended), (go, gone)) = (oneshot::channel(), oneshot::channel());
    begun.send(Waits { go, ended }).ok().unwrap();
    gone.await.unwrap();
    drop::<oneshot::Sender<()>>(ends);
}

/// A call of `wait` that has begun.
struct Waits {
    go: oneshot::Sender<()>,
    /// Fails when it has ended, whichever way.
    ended: oneshot::Receiver<()>,
}

/// Whoever wants to hear that a call of `wait` has begun.
static WAITED_FOR: Mutex<BTreeMap<usize, oneshot::Sender<Waits>>> = Mutex::new(BTreeMap::new());

fn wait_for(n: usize) -> oneshot::Receiver<Waits> {
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

    /// A call of a tool in a session.
    fn in_session(session: &str, tool: &str, arguments: Value) -> Self {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        Self::new("2025-11-25", &[("mcp-session-id", session)], &body)
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
        let here = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1)));
        request.extension(here).body(Body::from(self.body.clone())).unwrap()
    }
}

/// What of an answer matters: its status, its kind and what it says, event by event, each with what else it has.
async fn said(response: Response) -> (u16, Option<String>, Vec<(Value, Vec<String>)>) {
    let status = response.status().as_u16();
    let kind = response.headers().get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap().to_owned());
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    let said = match kind.as_deref() {
        Some("text/event-stream") => events(&body).map(|(fields, data)| (read(&data), fields)).collect(),
        _ => vec![(read(&body), vec![])],
    };
    (status, kind, said)
}

/// The events of a stream: the names of their fields, and their data.
fn events(stream: &str) -> impl Iterator<Item = (Vec<String>, String)> {
    stream.split("\n\n").filter(|event| !event.is_empty()).map(|event| {
        let fields = event.lines().map(|line| line.split_once(':').unwrap_or((line, "")));
        let data = fields.clone().find(|(name, _)| *name == "data").map_or("", |(_, data)| data.trim());
        let mut names: Vec<String> = fields.map(|(name, _)| name.to_owned()).collect();
        names.sort();
        (names, data.to_owned())
    })
}

/// A session of a client of 2025-11-25.
async fn begin(front: &Arc<Front<Nothing>>) -> String {
    let client = json!({"name": "a client", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let begun = answer(State(front.clone()), Asked::new("2025-11-25", &[], &initialize).request(true)).await;
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    said(begun).await;
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let initialized = Asked::new("2025-11-25", &[("mcp-session-id", &session)], &initialized);
    assert_eq!(answer(State(front.clone()), initialized.request(true)).await.status(), 202);
    session
}
