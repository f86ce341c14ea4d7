//! Measures the overhead of the router, compared with a plain axum handler that makes the same call.
//!
//! `cargo run --release -p tool-http --example cost`

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::Request;
use axum::routing::post;
use axum::{Json, Router};
use tool_http::{Api, Guard};
use tool_runtime::limits::Limit;
use tool_runtime::{Dispatcher, ToolCall, ToolResult, tool};
use tower::ServiceExt;

const CALLS: u32 = 50_000;
const ROUNDS: u32 = 7;

/// Add two numbers.
#[tool]
fn sum(a: i64, b: i64) -> i64 {
    a + b
}

async fn plain(State(tools): State<Dispatcher>, Path(name): Path<String>, body: String) -> Json<ToolResult> {
    Json(tools.call(ToolCall::from_text(name, body)).await)
}

fn request() -> Request<Body> {
    let request =
        Request::post("/tools/sum").header("host", "localhost:3000").header("content-type", "application/json");
    let peer = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 40_000)));
    request.extension(peer).body(Body::from(r#"{"a": 1, "b": 2}"#)).expect("a request")
}

async fn time(router: &Router) -> Duration {
    let began = Instant::now();
    for _ in 0..CALLS {
        let response = router.clone().oneshot(request()).await.expect("a router answers");
        assert!(response.status().is_success());
    }
    began.elapsed() / CALLS
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Dispatcher::builder().build()?;
    let guard = Guard::new().rate(Limit::per_second(u32::MAX));
    let ours: Router = Api::new(tools.clone()).guard(guard).into_router();
    let plain = Router::new().route("/tools/{name}", post(plain)).with_state(tools);
    let (mut best, mut best_plain) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        best_plain = best_plain.min(time(&plain).await);
        best = best.min(time(&ours).await);
    }
    let ratio = best.as_secs_f64() / best_plain.as_secs_f64();
    println!("per call: plain handler {best_plain:?}, router {best:?}, ratio {ratio:.2}");
    Ok(())
}
