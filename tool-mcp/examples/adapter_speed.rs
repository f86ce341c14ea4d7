//! Benchmark: the overhead of a remote tool over a plain call of rmcp's client.
//!
//! ```sh
//! cargo run --release -p tool-mcp --example adapter_speed
//! ```
//!
//! Both call the same tool of the same rmcp server in alternation, over an in-memory pipe, a child process and HTTP, and
//! the medians are compared. The plain client gets parsed arguments; the adapter parses and validates them, and runs the
//! call through the dispatcher.
//!
//! With the arguments `count`, `plain` or `adapter`, `pipe` or `http`, and a number, it makes that many calls and prints
//! nothing, for counting instructions with `valgrind --tool=callgrind`.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig as ServerInfo, Tool,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer, ServiceExt};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpClientTransport, StreamableHttpService, TokioChildProcess};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use tool_mcp::{ProtocolGeneration, RemoteServers, ServerConfig};
use tool_runtime::{Dispatcher, ToolCall};

const ROUNDS: usize = 200;
const CALLS: u32 = 50;

/// A server with one tool.
#[derive(Clone)]
struct Adder;

impl ServerHandler for Adder {
    fn get_info(&self) -> ServerInfo {
        ServerInfo::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let number = json!({"type": "integer"});
        let schema = json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]});
        let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
        Ok(ListToolsResult::with_all_items(vec![Tool::new("add", "Add two numbers.", Arc::new(schema))]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let number = |name: &str| arguments.get(name).and_then(Value::as_i64).unwrap_or_default();
        let sum = (number("a") + number("b")).to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(sum)]).into())
    }
}

/// Starts a server over a pipe, and returns the client's end.
fn serve_pipe() -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    tokio::spawn(async move {
        if let Ok(running) = Adder.serve(theirs).await {
            drop(running.waiting().await);
        }
    });
    ours
}

/// Starts an HTTP server in its own thread, and returns its URL.
async fn serve_http() -> Result<String, Box<dyn Error>> {
    let (tell, address) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
            let _gone = tell.send(listener.local_addr()?);
            let service = StreamableHttpService::new(
                || Ok(Adder),
                Arc::new(LocalSessionManager::default()),
                rmcp::transport::StreamableHttpServerConfig::default(),
            );
            // Disables Nagle's algorithm.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await
        })
    });
    Ok(format!("http://{}/mcp", address.await?))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => {
            Adder.serve(rmcp::transport::stdio()).await?.waiting().await?;
        }
        ["count", "plain", "pipe", calls] => {
            call_plain(().serve(serve_pipe()).await?.peer(), calls.parse()?).await?;
        }
        ["count", "plain", "http", calls] => {
            call_plain(().serve(plain_http(&serve_http().await?)).await?.peer(), calls.parse()?).await?;
        }
        ["count", "adapter", over, calls] => {
            let server = match *over {
                "http" => ServerConfig::http("s", serve_http().await?),
                _ => piped(),
            };
            let (tools, servers) = adapter(server).await?;
            call_adapter(&tools, calls.parse()?).await;
            servers.close().await;
        }
        _ => {
            compare("an in-memory pipe", ().serve(serve_pipe()).await?.peer(), piped()).await?;

            let program = std::env::current_exe()?;
            let mut command = tokio::process::Command::new(&program);
            command.arg("serve");
            let child = ().serve(TokioChildProcess::new(command)?).await?;
            compare("a child process", child.peer(), ServerConfig::command("s", program).arg("serve")).await?;

            let url = serve_http().await?;
            let http = ().serve(plain_http(&url)).await?;
            compare("HTTP", http.peer(), ServerConfig::http("s", url)).await?;
        }
    }
    Ok(())
}

fn plain_http(url: &str) -> StreamableHttpClientTransport<reqwest::Client> {
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    StreamableHttpClientTransport::with_client(reqwest::Client::new(), config)
}

fn piped() -> ServerConfig {
    ServerConfig::streams("s", || async { Ok(tokio::io::split(serve_pipe())) })
}

async fn adapter(server: ServerConfig) -> Result<(Dispatcher, RemoteServers), Box<dyn Error>> {
    let tools = Dispatcher::builder().build()?;
    let server = server.generation(ProtocolGeneration::Initialize).trust();
    let servers = RemoteServers::builder().server(server).strict().connect(&tools.registry()).await?;
    Ok((tools, servers))
}

async fn call_plain(plain: &Peer<RoleClient>, calls: u32) -> Result<(), Box<dyn Error>> {
    let arguments = json!({"a": 40, "b": 2}).as_object().cloned().unwrap_or_default();
    for _ in 0..calls {
        let params = CallToolRequestParams::new(Cow::Borrowed("add")).with_arguments(arguments.clone());
        let answer = plain.call_tool(params).await?;
        assert_eq!(answer.content[0].as_text().map(|text| text.text.as_str()), Some("42"));
    }
    Ok(())
}

async fn call_adapter(tools: &Dispatcher, calls: u32) {
    for _ in 0..calls {
        let result = tools.call(ToolCall::from_text("mcp_s_add", r#"{"a": 40, "b": 2}"#)).await;
        assert_eq!(result.output, "42");
    }
}

async fn compare(over: &str, plain: &Peer<RoleClient>, server: ServerConfig) -> Result<(), Box<dyn Error>> {
    let (tools, servers) = adapter(server).await?;
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        call_plain(plain, CALLS).await?;
        theirs.push(start.elapsed() / CALLS);
        let start = Instant::now();
        call_adapter(&tools, CALLS).await;
        ours.push(start.elapsed() / CALLS);
    }
    let (plain, adapted) = (median(theirs), median(ours));
    let added = adapted.as_secs_f64() / plain.as_secs_f64() * 100.0 - 100.0;
    println!("over {over}: plain rmcp client {plain:?}, adapter {adapted:?}, overhead {added:.1} %");
    servers.close().await;
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
