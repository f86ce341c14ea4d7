//! The server of `tool-mcp`.

use std::collections::BTreeMap;

use contest::work::{Hit, Order, hits};
use tokio::net::TcpListener;
use tool_mcp::{HttpConfig, McpServer};
use tool_runtime::{Dispatcher, RuntimeTool, tool};

/// Add two integers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Search.
#[tool]
fn search(query: String, limit: Option<u32>, tags: Vec<String>, filter: BTreeMap<String, String>) -> Vec<Hit> {
    hits(&query, limit, &tags, filter.len())
}

/// Echo an order.
#[tool]
fn order(order: Order) -> Order {
    order
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

pub async fn serve(transport: &str, tools: usize) {
    let mut builder = Dispatcher::builder();
    for number in 3..tools {
        let filler = |Add { a, b }| async move { (a + b).to_string() };
        builder = builder.tool(RuntimeTool::new(format!("filler_{number}"), "Add two integers.", filler));
    }
    let server = McpServer::new(builder.build().expect("the tools are complete"));
    if transport == "stdio" {
        return server.stdio().await.expect("a client");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("{}", listener.local_addr().expect("a port"));
    server.listen_on(listener, HttpConfig::new()).await.expect("it is served");
}
