//! The published `@modelcontextprotocol/server-everything`, over the standard streams and over HTTP.

#![expect(deprecated, reason = "sampling is deprecated in MCP, but the server uses it")]

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{CreateMessageResult, ElicitResult, ElicitationAction, SamplingMessage};
use serde_json::{Value, json};
use test_packages::Node;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tool_mcp::{ElicitationRequest, RemoteServers, RemoteServersBuilder, SamplingRequest, ServerConfig, ServerState};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, Progress, ToolCall, ToolResult};

use crate::published::{NPM, script};
use crate::scripted::{connect, dispatcher, kind, until};

const PACKAGE: &str = "server-everything";
const LONG: &str = "mcp_all_trigger-long-running-operation";

/// The server over HTTP, in its own process, stopped when dropped.
struct Listening {
    process: Child,
    address: SocketAddr,
}

impl Listening {
    /// Starts the server on a loopback port; 0 picks a free one. By default it would listen on all interfaces.
    async fn start(node: &Node, port: u16) -> Self {
        let mut command = Command::new(node.program());
        let loopback = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node/loopback.cjs");
        command.arg("--require").arg(loopback).arg(script(node, PACKAGE)).arg("streamableHttp");
        command.env("PORT", port.to_string()).env("SECRET_OF_THE_TEST", "none");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next_line().await.unwrap().expect("a listening server");
            if let Some(address) = line.strip_prefix("listening at ") {
                break address.parse::<SocketAddr>().unwrap();
            }
        };
        assert!(address.ip().is_loopback(), "{address} is not a loopback address");
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { process, address }
    }

    fn config(&self) -> ServerConfig {
        ServerConfig::http("all", format!("http://{}/mcp", self.address)).trust()
    }

    /// Kills the server, like a crash.
    async fn kill(mut self) -> u16 {
        self.process.kill().await.unwrap();
        self.address.port()
    }
}

fn over_stdio(node: &Node) -> ServerConfig {
    let script = script(node, PACKAGE);
    let config = ServerConfig::command("all", node.program()).arg(script.to_string_lossy()).arg("stdio").trust();
    config.env("SECRET_OF_THE_TEST", "none")
}

/// Adds handlers for the server's requests.
fn answering(server: ServerConfig) -> RemoteServersBuilder {
    let model = |_: SamplingRequest| async {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("sampled here"), "a-model".to_owned()))
    };
    let user = |_: ElicitationRequest| async {
        ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ada", "check": true}))
    };
    RemoteServers::builder().server(server).on_sampling(model).on_elicitation(user).roots(["file:///srv"])
}

async fn call(tools: &Dispatcher, name: &str, arguments: Value) -> ToolResult {
    tools.call(ToolCall::new(format!("mcp_all_{name}"), arguments)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_every_tool_over_stdio() {
    let Some(node) = NPM.installed() else { return };
    let tools = dispatcher();
    let servers = connect(&tools, answering(over_stdio(&node))).await;
    call_every_tool(&tools, &servers).await;
    let environment = call(&tools, "get-env", json!({})).await.output;
    assert!(!environment.contains("CARGO"), "only basic variables are inherited: {environment}");
    servers.close().await;
    assert!(tools.registry().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_every_tool_over_http() {
    let Some(node) = NPM.installed() else { return };
    let server = Listening::start(&node, 0).await;
    let tools = dispatcher();
    let servers = connect(&tools, answering(server.config())).await;
    call_every_tool(&tools, &servers).await;
    servers.close().await;
    assert!(tools.registry().is_empty());
}

/// Calls every tool of the server and checks its output.
async fn call_every_tool(tools: &Dispatcher, servers: &RemoteServers) {
    assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
    // The server adds tools depending on the client's capabilities.
    until(|| tools.registry().has("mcp_all_get-roots-list")).await;
    let expected: &[(&str, Value, &str)] = &[
        ("echo", json!({"message": "hello"}), "Echo: hello"),
        ("get-sum", json!({"a": 2, "b": "3"}), "5"),
        ("get-env", json!({}), "SECRET_OF_THE_TEST"),
        ("get-annotated-message", json!({"messageType": "error", "includeImage": true}), "[image image/png"),
        ("get-tiny-image", json!({}), "[image image/png"),
        ("get-resource-links", json!({"count": 2}), "[link "),
        ("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1}), "[resource "),
        ("get-structured-content", json!({"location": "Chicago"}), "\"temperature\""),
        (
            "gzip-file-as-resource",
            json!({"data": "data:text/plain;base64,aGVsbG8=", "outputType": "resource"}),
            "[resource ",
        ),
        ("toggle-simulated-logging", json!({}), "logging"),
        ("toggle-subscriber-updates", json!({}), "updates"),
        ("trigger-long-running-operation", json!({"duration": 0.2, "steps": 2}), "completed"),
        ("trigger-sampling-request", json!({"prompt": "say"}), "sampled here"),
        ("trigger-elicitation-request", json!({}), "Ada"),
        ("get-roots-list", json!({}), "file:///srv"),
        // Works only as a task, and says so.
        ("simulate-research-query", json!({"topic": "tea"}), "task"),
    ];
    let mut listed: Vec<String> = tools.registry().names().iter().map(ToString::to_string).collect();
    for (name, arguments, part) in expected {
        let result = call(tools, name, arguments.clone()).await;
        assert!(result.output.contains(part), "{name}: {result:?}");
        let local = format!("mcp_all_{name}");
        assert!(listed.contains(&local), "{name} is not listed");
        listed.retain(|known| *known != local);
    }
    for left in listed {
        let result = tools.call(ToolCall::new(left.clone(), json!({}))).await;
        assert!(!result.output.is_empty(), "{left}: {result:?}");
        println!("untested tool {left}: {}", result.output);
    }
    let image = call(tools, "get-tiny-image", json!({})).await;
    let content = image.metadata.get("content").unwrap();
    assert!(content[1]["type"] == "image" && content[1]["data"].is_string(), "{content}");
    let structured = call(tools, "get-structured-content", json!({"location": "Chicago"})).await;
    assert!(serde_json::from_str::<Value>(&structured.output).unwrap()["temperature"].is_number(), "{structured:?}");
    let refused = call(tools, "get-sum", json!({"a": "x"})).await;
    assert_eq!(kind(&refused), Some(ErrorKind::InvalidArguments), "rejected before it is sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_progress_and_cancels_a_long_call_over_stdio() {
    let Some(node) = NPM.installed() else { return };
    let tools = dispatcher();
    let servers = connect(&tools, answering(over_stdio(&node))).await;
    report_progress_and_cancel(&tools).await;
    servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_progress_and_cancels_a_long_call_over_http() {
    let Some(node) = NPM.installed() else { return };
    let server = Listening::start(&node, 0).await;
    let tools = dispatcher();
    let servers = connect(&tools, answering(server.config())).await;
    report_progress_and_cancel(&tools).await;
    servers.close().await;
}

async fn report_progress_and_cancel(tools: &Dispatcher) {
    let (heard, token) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
    let (listener, stop) = (heard.clone(), token.clone());
    let progress = Progress::to(move |report| {
        listener.lock().unwrap().push(report);
        stop.cancel();
    });
    let long = ToolCall::new(LONG, json!({"duration": 600, "steps": 1200}));
    let stopped = tools.call(long).with(progress).cancel(token).await;
    assert_eq!(kind(&stopped), Some(ErrorKind::Cancelled), "{stopped:?}");
    assert_eq!(heard.lock().unwrap()[0]["total"], 1200.0);
    let late = ToolCall::new(LONG, json!({"duration": 600, "steps": 1}));
    let late = tools.call(late).timeout(Duration::from_millis(100)).await;
    assert_eq!(kind(&late), Some(ErrorKind::TimedOut), "{late:?}");
    assert_eq!(call(tools, "echo", json!({"message": "on"})).await.output, "Echo: on");
}

/// Starts a call, and waits for its first progress report.
async fn running(tools: &Dispatcher) -> tokio::task::JoinHandle<ToolResult> {
    let started = CancellationToken::new();
    let (tools, cancel_on_progress) = (tools.clone(), started.clone());
    let call = tokio::spawn(async move {
        let long = ToolCall::new(LONG, json!({"duration": 600, "steps": 6000}));
        tools.call(long).with(Progress::to(move |_: Value| cancel_on_progress.cancel())).await
    });
    started.cancelled().await;
    call
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_a_killed_server_and_reconnects() {
    let Some(node) = NPM.installed() else { return };
    let server = Listening::start(&node, 0).await;
    let tools = dispatcher();
    let servers = connect(&tools, answering(server.config())).await;
    let in_flight = running(&tools).await;
    let port = server.kill().await;
    let unavailable = call(&tools, "echo", json!({"message": "on"})).await;
    assert_eq!(kind(&unavailable), Some(ErrorKind::Retry), "{unavailable:?}");
    assert!(unavailable.output.contains("`all`"), "{}", unavailable.output);
    let lost = in_flight.await.unwrap();
    assert_eq!(kind(&lost), Some(ErrorKind::OutcomeUnknown), "{lost:?}");
    assert!(lost.output.contains("The connection to the server `all` was lost"), "{}", lost.output);

    let server = Listening::start(&node, port).await;
    until(|| servers.status()[0].state == ServerState::Connected).await;
    assert_eq!(call(&tools, "echo", json!({"message": "on"})).await.output, "Echo: on");
    servers.close().await;
    drop(server);
}

/// A server that restarts unnoticed does not know the session, and reports it in its own way.
#[tokio::test(flavor = "multi_thread")]
async fn calls_a_restarted_server_in_a_new_session() {
    let Some(node) = NPM.installed() else { return };
    let server = Listening::start(&node, 0).await;
    let tools = dispatcher();
    let servers = connect(&tools, answering(server.config())).await;
    let in_flight = running(&tools).await;
    let server = Listening::start(&node, server.kill().await).await;
    assert_eq!(call(&tools, "echo", json!({"message": "on"})).await.output, "Echo: on");
    let lost = in_flight.await.unwrap();
    assert_eq!(kind(&lost), Some(ErrorKind::OutcomeUnknown), "{lost:?}");
    assert_eq!(call(&tools, "echo", json!({"message": "still"})).await.output, "Echo: still");
    servers.close().await;
    drop(server);
}
