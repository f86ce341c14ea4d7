//! `GET /health`.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::SharedState;

/// The health of the server.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The number of tools.
    tools: usize,
    /// The number of running calls, if the server limits it.
    running: Option<usize>,
    /// The number of calls that wait for a permit, if the server limits running calls.
    waiting: Option<usize>,
}

pub(crate) async fn show(State(api): SharedState) -> Json<Health> {
    let concurrency = api.tools.concurrency();
    Json(Health {
        status: "ok",
        tools: api.tools.definitions().len(),
        running: concurrency.map(|calls| calls.running()),
        waiting: concurrency.map(|calls| calls.waiting()),
    })
}
