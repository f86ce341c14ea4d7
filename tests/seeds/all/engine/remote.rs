//! Tools of MCP servers, and the messages of a call.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tool_mcp::{RemoteServers, ServerConfig};
use tool_runtime::dialect::Dialect;
use tool_runtime::{Dispatcher, ErrorKind, Policy};

use crate::support::{Workspace, call, empty, kind, output};

/// The parameters of the calls that a server received.
type Calls = Arc<Mutex<Vec<Value>>>;

const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// Returns a server with the tool `show`, which takes an argument of each type, and the tool `break`, which fails.
fn server(calls: &Calls) -> ServerConfig {
    let calls = calls.clone();
    ServerConfig::streams("demo", move || {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        tokio::spawn(serve(theirs, calls.clone()));
        async { Ok(tokio::io::split(ours)) }
    })
}

async fn serve(stream: tokio::io::DuplexStream, calls: Calls) {
    let (read, mut write) = tokio::io::split(stream);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        if let (Some(reply), Some(id)) = (reply(&message, &calls), message.get("id")) {
            let mut response = json!({"jsonrpc": "2.0", "id": id});
            response[reply.0] = reply.1;
            write.write_all(format!("{response}\n").as_bytes()).await.unwrap();
        }
    }
}

fn reply(message: &Value, calls: &Calls) -> Option<(&'static str, Value)> {
    let properties: serde_json::Map<_, _> =
        TYPES.iter().map(|name| ((*name).to_owned(), json!({"type": name}))).collect();
    let show = json!({"type": "object", "properties": properties, "required": ["string"]});
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "demo", "version": "1"},
        }),
        "tools/list" => json!({"tools": [
            {"name": "show", "description": "Show all.", "inputSchema": show},
            {"name": "break", "description": "Fail.", "inputSchema": {"type": "object"}},
        ]}),
        "tools/call" if message["params"]["name"] == "break" => {
            json!({"content": [{"type": "text", "text": "it broke"}], "isError": true})
        }
        "tools/call" => {
            calls.lock().unwrap().push(message["params"].clone());
            json!({"content": [{"type": "text", "text": "first"}, {"type": "text", "text": "second"}]})
        }
        _ => return Some(("error", json!({"code": -32601, "message": "unknown method"}))),
    };
    Some(("result", result))
}

/// Connects a dispatcher without approvals to the server.
async fn connected() -> (Dispatcher, RemoteServers, Calls) {
    let (tools, calls) = (empty().policy(Policy::Yolo).build().unwrap(), Calls::default());
    let servers = RemoteServers::builder().server(server(&calls)).strict().connect(&tools.registry()).await.unwrap();
    (tools, servers, calls)
}

/// Checks that an argument of a type takes one value and not another, which is not sent.
async fn takes(name: &str, valid: Value, invalid: Value) {
    let (tools, servers, calls) = connected().await;
    let arguments = |value: &Value| {
        let mut arguments = json!({"string": "x"});
        arguments[name] = value.clone();
        arguments
    };
    output(&tools, "mcp_demo_show", arguments(&valid)).await;
    assert_eq!(kind(&call(&tools, "mcp_demo_show", arguments(&invalid)).await), ErrorKind::InvalidArguments);
    let received: Vec<Value> = calls.lock().unwrap().iter().map(|params| params["arguments"][name].clone()).collect();
    assert_eq!(received, [valid]);
    servers.close().await;
}

/// Requirement 153
#[tokio::test]
async fn remote_tools_are_sensitive() {
    let (tools, servers, _) = connected().await;
    assert!(tools.definitions().iter().all(|(_, tool)| tool.sensitive));
    servers.close().await;
}

/// Requirement 154
#[tokio::test]
async fn a_remote_tool_is_named_after_its_server() {
    let (tools, servers, calls) = connected().await;
    assert!(tools.definition("mcp_demo_show").is_some() && tools.definition("show").is_none());
    output(&tools, "mcp_demo_show", json!({"string": "x"})).await;
    assert_eq!(calls.lock().unwrap()[0]["name"], "show", "the server knows its own name");
    servers.close().await;
}

/// Requirement 155
#[tokio::test]
async fn a_remote_string_is_checked() {
    takes("string", json!("text"), json!({})).await;
}

/// Requirement 156
#[tokio::test]
async fn a_remote_integer_is_checked() {
    takes("integer", json!(7), json!(7.5)).await;
}

/// Requirement 157
#[tokio::test]
async fn a_remote_number_is_checked() {
    takes("number", json!(7.5), json!("much")).await;
}

/// Requirement 158
#[tokio::test]
async fn a_remote_boolean_is_checked() {
    takes("boolean", json!(true), json!("perhaps")).await;
}

/// Requirement 159
#[tokio::test]
async fn a_remote_array_is_checked() {
    takes("array", json!([1, "two"]), json!({"a": 1})).await;
}

/// Requirement 160
#[tokio::test]
async fn a_remote_object_is_checked() {
    takes("object", json!({"a": 1}), json!([1])).await;
}

/// Requirement 161
#[tokio::test]
async fn a_missing_remote_argument_is_reported_before_anything_is_sent() {
    let (tools, servers, calls) = connected().await;
    let result = call(&tools, "mcp_demo_show", json!({"integer": 1})).await;
    assert_eq!(kind(&result), ErrorKind::InvalidArguments);
    assert!(result.output.contains("string") && calls.lock().unwrap().is_empty(), "{}", result.output);
    servers.close().await;
}

/// Requirement 162
#[tokio::test]
async fn an_optional_remote_argument_can_be_left_out_or_null() {
    let (tools, servers, calls) = connected().await;
    output(&tools, "mcp_demo_show", json!({"string": "x"})).await;
    output(&tools, "mcp_demo_show", json!({"string": "x", "integer": null})).await;
    let received: Vec<Value> = calls.lock().unwrap().iter().map(|params| params["arguments"].clone()).collect();
    assert_eq!(received, [json!({"string": "x"}), json!({"string": "x"})]);
    servers.close().await;
}

/// Requirement 163
#[tokio::test]
async fn the_text_of_a_remote_result_is_the_output() {
    let (tools, servers, _) = connected().await;
    let shown = output(&tools, "mcp_demo_show", json!({"string": "x"})).await;
    assert!(shown.contains("first") && shown.contains("second") && !shown.contains("content"), "{shown}");
    servers.close().await;
}

/// Requirement 164
#[tokio::test]
async fn an_error_of_the_server_is_a_failed_result() {
    let (tools, servers, _) = connected().await;
    let result = call(&tools, "mcp_demo_break", json!({})).await;
    assert!(!result.success && result.output.contains("it broke"), "{}", result.output);
    servers.close().await;
}

/// The response of a model that calls `write_file`.
fn response() -> String {
    let arguments = json!({"path": "main.py", "content": "print(1)\n"}).to_string();
    let call =
        json!({"id": "call_abc", "type": "function", "function": {"name": "write_file", "arguments": arguments}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).to_string()
}

/// Requirement 166
#[test]
fn the_message_of_the_model_keeps_its_calls() {
    let workspace = Workspace::new();
    let messages = workspace.tools.offer(Dialect::OpenAiChat).unwrap().turn(&response()).unwrap();
    let message = messages.into_iter().next().unwrap();
    assert_eq!((&message["role"], &message["tool_calls"][0]["id"]), (&json!("assistant"), &json!("call_abc")));
}

/// Requirement 167
#[tokio::test]
async fn the_result_of_a_call_is_a_message_with_its_id() {
    let workspace = Workspace::new();
    let offer = workspace.tools.offer(Dialect::OpenAiChat).unwrap();
    let results = workspace.tools.answers("chat", offer.calls(&response()).unwrap()).await;
    let message = &offer.results(&results)[0];
    assert_eq!((&message["role"], &message["tool_call_id"]), (&json!("tool"), &json!("call_abc")));
    assert!(message["content"].as_str().unwrap().contains("main.py"), "{message}");
    assert_eq!(workspace.text("main.py"), "print(1)\n");
}
