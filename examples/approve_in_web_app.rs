//! A call that needs approval waits until a user of a web application approves it.
//!
//! ```sh
//! cargo run -p examples --example approve_in_web_app
//! curl localhost:3000/call --json '{"name": "note.delete", "arguments": {"title": "milk"}}'
//! curl localhost:3000/pending
//! curl localhost:3000/approve --json '{"token": "<the token of a pending call>"}'
//! ```

use std::time::SystemTime;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tool_runtime::confirm::{Deferred, SealingKey};
use tool_runtime::{Dispatcher, ToolCall, ToolResult, tool};

/// Delete a note.
#[tool(name = "note.delete", destructive)]
async fn delete(title: &str) -> String {
    format!("`{title}` is deleted")
}

#[derive(Clone)]
struct App {
    tools: Dispatcher,
    deferred: Deferred,
}

type Reply<T> = Result<Json<T>, (StatusCode, String)>;

/// Makes a call, as an agent would for its model. A call that waits for approval fails with `ErrorKind::Pending`.
async fn call(State(app): State<App>, Json(call): Json<Value>) -> Json<ToolResult> {
    let name = call["name"].as_str().unwrap_or_default();
    let mut result = app.tools.call(ToolCall::new(name, call["arguments"].clone())).await;
    // The token of a pending call is for the user who decides, never for the model.
    result.metadata = Default::default();
    Json(result)
}

/// Lists the pending calls, for the page on which users decide.
async fn pending(State(app): State<App>) -> Reply<Vec<Value>> {
    let pending = app.deferred.all_waiting(SystemTime::now()).await.map_err(refusal)?;
    let shown = pending.into_iter().map(|(approval, call)| {
        json!({"token": approval.token, "tool": call.question.tool, "arguments": call.question.shown()})
    });
    Ok(Json(shown.collect()))
}

/// Runs the call of a token, with exactly the arguments that were shown. A token works once.
async fn approve(State(app): State<App>, Json(decision): Json<Value>) -> Reply<ToolResult> {
    let token = decision["token"].as_str().unwrap_or_default();
    let run = app.deferred.resume(token, SystemTime::now(), |question| app.tools.approve(question));
    Ok(Json(run.await.map_err(refusal)?))
}

fn refusal(error: impl ToString) -> (StatusCode, String) {
    (StatusCode::BAD_REQUEST, error.to_string())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Keeps pending calls in memory. To keep them across restarts, set a store and load the key from a secret.
    let deferred = Deferred::new(SealingKey::random()?);
    let tools = Dispatcher::builder().confirm(deferred.clone()).build()?;
    let app = Router::new()
        .route("/call", post(call))
        .route("/pending", get(pending))
        .route("/approve", post(approve))
        .with_state(App { tools, deferred });
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
