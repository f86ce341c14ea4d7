//! Classes of every form, called over HTTP and MCP.

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tower::ServiceExt;

use crate::fixtures;

/// A trait impl, a trait, an instance of a generic class, a borrowing class and a declared one; tools by their aliases.
fn calls() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("memory_orders.find", json!({"id": 2}), r#"{"id":2,"note":"order 2"}"#),
        ("stock_api.pieces", json!({"article": "cup"}), "3"),
        ("noted_orders.load", json!({"key": "order 1"}), r#"{"id":1,"note":"order 1"}"#),
        ("order_book.place", json!({"note": "cup"}), "1"),
        ("replica.get", json!({"id": 1}), "task 1"),
        ("cp", json!({"file_path": "a", "target": "b"}), "a Some(\"b\") false"),
        ("shelf_find", json!({"name": "emma"}), "EMMA"),
        ("increment", json!({"by": 1}), "2"),
        ("fresh.count", json!({}), "1"),
    ]
}

#[tokio::test]
async fn every_class_form_can_be_called_over_http() {
    let router = tool_http::Api::new(fixtures::tools().clone()).into_router();
    for (name, arguments, output) in calls() {
        let peer = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4000)));
        let request = Request::post(format!("/tools/{name}"))
            .extension(peer)
            .header("host", "localhost:3000")
            .header("content-type", "application/json")
            .body(Body::from(arguments.to_string()));
        let response = router.clone().oneshot(request.expect("a request")).await.expect("a response");
        let status = response.status();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        assert!(status.is_success(), "{name}: {status} {text}");
        let result: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(result["output"], output, "{name}: {text}");
    }
}

#[tokio::test]
async fn every_class_form_can_be_called_over_mcp() {
    let (client, server) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(server);
    let serving = tokio::spawn(tool_mcp::McpServer::new(fixtures::tools().clone()).serve((read, write)));
    let (read, mut write) = tokio::io::split(client);
    let mut lines = BufReader::new(read).lines();
    let start = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let mut messages = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": start}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    for (id, (name, arguments, _)) in calls().into_iter().enumerate() {
        let params = json!({"name": name, "arguments": arguments});
        messages.push(json!({"jsonrpc": "2.0", "id": id + 1, "method": "tools/call", "params": params}));
    }
    for message in messages {
        write.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
    }
    let mut received = 0;
    while received < calls().len() {
        let line = lines.next_line().await.expect("a line").expect("the server responds");
        let response: Value = serde_json::from_str(&line).expect("JSON");
        let Some(id) = response["id"].as_u64().filter(|id| *id > 0) else { continue };
        let (name, _, output) = &calls()[usize::try_from(id).expect("an id") - 1];
        assert_eq!(response["result"]["content"][0]["text"], *output, "{name}: {line}");
        received += 1;
    }
    serving.abort();
}
