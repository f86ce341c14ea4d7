//! Whether it works.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::Api;

/// How the server is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Health {
    /// `ok`: it answers.
    status: &'static str,
    /// How many tools are on offer.
    tools: usize,
    /// How many calls run, where their number is bounded.
    running: Option<usize>,
    /// How many calls wait for a place.
    waiting: Option<usize>,
}

pub(crate) async fn show(State(api): Api) -> Json<Health> {
    let concurrency = api.tools.concurrency();
    Json(Health {
        status: "ok",
        tools: api.tools.definitions().len(),
        running: concurrency.map(|calls| calls.running()),
        waiting: concurrency.map(|calls| calls.waiting()),
    })
}
