//! A server of the SDK, written as in its documentation.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt;
use contest::work::{Order, hits};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
    filter: BTreeMap<String, String>,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    order: Order,
}

#[derive(Clone)]
struct PlainServer {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl PlainServer {
    fn new(tools: usize) -> Self {
        let mut tool_router = Self::tool_router();
        let add = tool_router.map["add"].clone();
        for number in 3..tools {
            let mut route = add.clone();
            route.attr.name = format!("filler_{number}").into();
            tool_router.add_route(route);
        }
        Self { tool_router }
    }

    #[tool(description = "Add two integers.")]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }

    #[tool(description = "Search.")]
    fn search(&self, Parameters(Search { query, limit, tags, filter }): Parameters<Search>) -> String {
        serde_json::to_string(&hits(&query, limit, &tags, filter.len())).expect("JSON")
    }

    #[tool(description = "Echo an order.")]
    fn order(&self, Parameters(Echo { order }): Parameters<Echo>) -> Json<Order> {
        Json(order)
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for PlainServer {}

pub async fn serve(transport: &str, tools: usize) {
    if transport == "stdio" {
        let running = PlainServer::new(tools).serve(rmcp::transport::io::stdio_pipes()).await.expect("a client");
        running.waiting().await.expect("it ends");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("{}", listener.local_addr().expect("a port"));
    // One server for all requests, which is cheaper than one per request; responses without a stream, like ours.
    let server = Arc::new(PlainServer::new(tools));
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    // Same as ours: otherwise the benchmark would measure the delay of small packets.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await.expect("it is served");
}
