//! Tests of the fast path.

mod equivalence;
mod interrupted;

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

use super::fast_path::{CallHead, HttpFrontend, handle};
use crate::server::handler::ToolsOnly;
use crate::server::request_parser::tools_call;
use crate::{HttpConfig, McpClient, McpServer};

#[derive(serde::Serialize, schemars::JsonSchema)]
struct N {
    n: i64,
}

/// Return the argument.
#[tool]
fn echo(n: i64) -> N {
    N { n }
}

/// Have an argument that is repeated in a header.
#[tool]
fn headers(n: i64) -> N {
    N { n }
}

/// Fail.
#[tool]
fn fail() -> Result<(), String> {
    Err("not today".to_owned())
}

/// Return text that needs escaping.
#[tool]
fn whole() -> String {
    "é \"x\"\n".to_owned()
}

/// Need approval.
#[tool(sensitive)]
fn delete() {}

/// Wait until the test releases it.
#[tool]
async fn wait(n: usize) {
    let begun = WAITED_FOR.lock().unwrap().remove(&n).unwrap();
    let ((ends, ended), (go, gone)) = (oneshot::channel(), oneshot::channel());
    begun.send(WaitingCall { go, ended }).ok().unwrap();
    gone.await.unwrap();
    drop::<oneshot::Sender<()>>(ends);
}

/// A call of `wait` that has started.
struct WaitingCall {
    go: oneshot::Sender<()>,
    /// Fails when the call has ended or was dropped.
    ended: oneshot::Receiver<()>,
}

/// The tests that wait for a call of `wait` to start.
static WAITED_FOR: Mutex<BTreeMap<usize, oneshot::Sender<WaitingCall>>> = Mutex::new(BTreeMap::new());

fn wait_for(n: usize) -> oneshot::Receiver<WaitingCall> {
    let (began, begun) = oneshot::channel();
    WAITED_FOR.lock().unwrap().insert(n, began);
    begun
}

fn serve(config: &HttpConfig) -> Arc<HttpFrontend<ToolsOnly>> {
    let client = |(): (), scope: Scope| async move { scope.given::<McpClient>().is_some().to_string() };
    let tools = Dispatcher::builder().allow_empty().build().unwrap();
    tools.registry().register(RuntimeTool::scoped("client", "Return whether a client is present.", client)).unwrap();
    let server = McpServer::new(tools).describe(|tool| {
        if tool.name == "headers" {
            let mut schema = json!(tool.input_schema);
            schema["properties"]["n"]["x-mcp-header"] = json!("N");
            tool.input_schema = Arc::new(schema.as_object().cloned().unwrap());
        }
    });
    Arc::new(server.frontend(config))
}

/// A request builder.
#[derive(Clone, Debug)]
struct TestRequest {
    method: &'static str,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl TestRequest {
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

    /// A call by a client of 2026-07-28.
    fn modern(tool: &str, arguments: Value) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        Self::new("2026-07-28", &[("mcp-method", "tools/call"), ("mcp-name", tool)], &body)
    }

    /// A call in a session.
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

    fn with_json(mut self, pointer: &str, value: Value) -> Self {
        let mut body: Value = serde_json::from_str(&self.body).unwrap();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        body.pointer_mut(parent).unwrap()[key] = value;
        self.body = body.to_string();
        self
    }

    /// A request without `Content-Length` is not eligible for the fast path.
    fn request(&self, with_length: bool) -> Request {
        let mut request = http::Request::builder().method(self.method).uri("/mcp");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if with_length {
            request = request.header(header::CONTENT_LENGTH, self.body.len());
        }
        let here = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1)));
        request.extension(here).body(Body::from(self.body.clone())).unwrap()
    }
}

/// Returns the status, the content type and the messages of a response, with the other fields of each event.
async fn content(response: Response) -> (u16, Option<String>, Vec<(Value, Vec<String>)>) {
    let status = response.status().as_u16();
    let kind = response.headers().get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap().to_owned());
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    let messages = match kind.as_deref() {
        Some("text/event-stream") => events(&body).map(|(fields, data)| (read(&data), fields)).collect(),
        _ => vec![(read(&body), vec![])],
    };
    (status, kind, messages)
}

/// Parses the events of a stream into field names and data.
fn events(stream: &str) -> impl Iterator<Item = (Vec<String>, String)> {
    stream.split("\n\n").filter(|event| !event.is_empty()).map(|event| {
        let fields = event.lines().map(|line| line.split_once(':').unwrap_or((line, "")));
        let data = fields.clone().find(|(name, _)| *name == "data").map_or("", |(_, data)| data.trim());
        let mut names: Vec<String> = fields.map(|(name, _)| name.to_owned()).collect();
        names.sort();
        (names, data.to_owned())
    })
}

/// Starts a session of a 2025-11-25 client.
async fn begin(front: &Arc<HttpFrontend<ToolsOnly>>) -> String {
    let client = json!({"name": "a client", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let begun = handle(State(front.clone()), TestRequest::new("2025-11-25", &[], &initialize).request(true)).await;
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    content(begun).await;
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let initialized = TestRequest::new("2025-11-25", &[("mcp-session-id", &session)], &initialized);
    assert_eq!(handle(State(front.clone()), initialized.request(true)).await.status(), 202);
    session
}
