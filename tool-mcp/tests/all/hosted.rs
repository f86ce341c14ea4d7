//! Small scripted HTTP servers.

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::MethodRouter;
use serde_json::{Value, json};
use tool_mcp::ServerConfig;

pub const JSON: &str = "application/json";
pub const EVENTS: &str = "text/event-stream";

/// Serves the routes as the server `h`.
pub async fn host(routes: MethodRouter) -> ServerConfig {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/mcp", routes)).await });
    ServerConfig::http("h", format!("http://{address}/mcp"))
}

pub fn respond(status: u16, kind: &str, body: impl Into<Body>) -> Response {
    Response::builder().status(status).header("content-type", kind).body(body.into()).unwrap()
}

/// Returns the response to a notification.
pub fn accept() -> Response {
    respond(202, "text/plain", "")
}

/// Returns the response to a request.
pub fn result(request: &Value, result: Value) -> Response {
    respond(200, JSON, json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string())
}

/// Returns the response to `initialize` of a 2025-11-25 server with tools.
pub fn begin(request: &Value, session: &str) -> Response {
    let mut first = result(
        request,
        json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"},
        }),
    );
    first.headers_mut().insert("mcp-session-id", session.parse().unwrap());
    first
}
