//! Small scripted servers over a pair of streams.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tool_mcp::{RemoteServers, RemoteServersBuilder, ServerConfig};
use tool_runtime::{Dispatcher, ErrorKind, ToolCall, ToolResult};

/// The other end of a connection.
pub struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    /// The number of earlier connections.
    pub connection: usize,
}

impl Peer {
    /// Returns the next message, or `None` if the connection is closed.
    pub async fn next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }

    pub async fn raw(&mut self, bytes: &[u8]) {
        drop(self.write.write_all(bytes).await);
    }

    pub async fn send(&mut self, message: Value) {
        self.raw(format!("{message}\n").as_bytes()).await;
    }

    pub async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    pub async fn refuse(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await;
    }

    /// Handles the handshake of a 2025-11-25 server with tools, and returns the next other message.
    pub async fn request(&mut self) -> Option<Value> {
        loop {
            let message = self.next().await?;
            match message["method"].as_str() {
                Some("server/discover") => self.refuse(&message, -32601, "unknown").await,
                Some("initialize") => {
                    let result = json!({
                        "protocolVersion": "2025-11-25",
                        "capabilities": {"tools": {"listChanged": true}},
                        "serverInfo": {"name": "scripted", "version": "1"},
                    });
                    self.answer(&message, result).await;
                }
                Some("notifications/initialized") => {}
                _ => return Some(message),
            }
        }
    }

    /// Same as [`request`](Self::request), but also responds to `tools/list`.
    pub async fn call(&mut self, tools: &Value) -> Option<Value> {
        loop {
            let message = self.request().await?;
            match message["method"].as_str() {
                Some("tools/list") => self.answer(&message, json!({"tools": tools})).await,
                _ => return Some(message),
            }
        }
    }
}

/// A server that is scripted by a function, called once per connection.
pub fn server<F, Fut>(name: &str, script: F) -> ServerConfig
where
    F: Fn(Peer) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let connections = std::sync::atomic::AtomicUsize::new(0);
    let script = Arc::new(script);
    ServerConfig::streams(name, move || {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (read, write) = tokio::io::split(theirs);
        let connection = connections.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        tokio::spawn(script(Peer { lines: BufReader::new(read).lines(), write, connection }));
        async { Ok(tokio::io::split(ours)) }
    })
}

/// A server whose results are computed by a function from the parameters.
pub fn answering(
    name: &str,
    tools: Value,
    answer: impl Fn(&Value) -> Value + Clone + Send + Sync + 'static,
) -> ServerConfig {
    server(name, move |mut peer: Peer| {
        let (tools, answer) = (tools.clone(), answer.clone());
        async move {
            while let Some(call) = peer.call(&tools).await {
                peer.answer(&call, answer(&call["params"])).await;
            }
        }
    })
}

/// A well-behaved server, whose tool `say` returns its arguments.
pub fn good() -> ServerConfig {
    let tools = json!([tool("say", "Say something.")]);
    let script = move |mut peer: Peer| {
        let tools = tools.clone();
        async move {
            while let Some(call) = peer.call(&tools).await {
                peer.answer(&call, text(call["params"]["arguments"].to_string())).await;
            }
        }
    };
    server("good", script).trust()
}

pub fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}})
}

pub fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

pub fn dispatcher() -> Dispatcher {
    Dispatcher::builder().allow_empty().build().unwrap()
}

/// Connects a server beside a well-behaved one.
pub async fn beside_good(tools: &Dispatcher, server: ServerConfig) -> RemoteServers {
    connect(tools, RemoteServers::builder().server(server).server(good())).await
}

pub async fn connect(tools: &Dispatcher, builder: RemoteServersBuilder) -> RemoteServers {
    builder.connect(&tools.registry()).await.unwrap()
}

pub async fn call(tools: &Dispatcher, name: &str) -> ToolResult {
    tools.call(ToolCall::from_text(name, "{}")).await
}

/// Asserts that the well-behaved server is not affected.
pub async fn good_answers(tools: &Dispatcher) {
    let result = tools.call(ToolCall::from_text("mcp_good_say", r#"{"n": 1}"#)).await;
    assert_eq!(result.output, r#"{"n":1}"#, "{result:?}");
}

/// Returns the current fingerprint of a tool.
pub fn fingerprint(servers: &RemoteServers, tool: &str) -> String {
    let status = servers.status();
    let mut tools = status.iter().flat_map(|server| &server.tools);
    tools.find(|shown| shown.name == tool).expect("a tool").fingerprint.clone()
}

pub fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

/// Waits until a condition holds.
pub async fn until(mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), waiting)
        .await
        .expect("the condition did not hold in time");
}
