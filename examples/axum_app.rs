//! An HTTP API, an MCP server and an agent on one dispatcher. Every tool knows which user is calling.
//!
//! ```sh
//! cargo run -p examples --example axum_app
//! curl localhost:3000/api/tools/note.list --json '{}' -H 'Authorization: Bearer key-of-ada'
//! curl localhost:3000/chat/1 -d 'List my notes.' -H 'Authorization: Bearer key-of-ada'
//! ```
//!
//! MCP clients connect to `http://localhost:3000/mcp` with the same header.

use std::net::SocketAddr;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::{Extension, Router, response::Response, routing::post};
use tool_agent::{Agent, OfflineModel};
use tool_http::{Api, Problem};
use tool_mcp::{HttpConfig, McpClient, McpServer};
use tool_runtime::{Dispatcher, Scope, tool};

#[derive(Clone)]
struct User(String);

// The application injects the user. The model can neither see nor choose it.
/// List the notes of the user.
#[tool(name = "note.list", read_only)]
async fn list(#[inject] user: &User) -> Vec<String> {
    vec![format!("{}'s shopping list", user.0)]
}

/// Authenticates every request, before any of the routers. A real application looks up a session or checks a JWT.
async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let user = match request.headers().get("authorization").map(|key| key.as_bytes()) {
        Some(b"Bearer key-of-ada") => User("ada".to_owned()),
        Some(b"Bearer key-of-ben") => User("ben".to_owned()),
        _ => return Err(StatusCode::UNAUTHORIZED),
    };
    request.extensions_mut().insert(user);
    Ok(next.run(request).await)
}

/// Provides the user of a call: passed with the call, or in the HTTP request of an MCP client.
async fn current_user(scope: Scope) -> Result<User, &'static str> {
    if let Some(user) = scope.given::<User>() {
        return Ok(user);
    }
    let client = scope.given::<McpClient>().ok_or("the call has no user")?;
    client.http().and_then(|request| request.extensions.get().cloned()).ok_or("the MCP client has no user")
}

async fn chat(agent: State<Agent>, user: Extension<User>, Path(chat): Path<String>, text: String) -> String {
    // The user's name in the id keeps the conversations of different users apart.
    let conversation = agent.conversation(format!("{}/{chat}", user.0.0));
    conversation.say(text).each(move |call| call.with(user.0.clone())).await.text
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Dispatcher::builder().provide("user", current_user).build()?;
    // `ProviderModel::from_env()` is a real model.
    let agent = Agent::builder(OfflineModel, tools.clone()).build();
    let api = Api::new(tools.clone()).with(|request| {
        let user = request.extensions.get::<User>().cloned();
        user.ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, "no_user", "Log in first."))
    });
    let mcp = McpServer::new(tools).name("notes").http(HttpConfig::new());
    let app = Router::new()
        .route("/chat/{chat}", post(chat).with_state(agent))
        .nest("/api", api.into_router())
        .nest("/mcp", mcp)
        .layer(middleware::from_fn(authenticate));

    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}", listener.local_addr()?);
    // The API and the MCP server serve this machine only, for which they need the address of the peer.
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
