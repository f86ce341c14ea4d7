//! `GET /openapi.json`.

use axum::Json;
use axum::extract::{NestedPath, State};
use serde_json::Value;

use super::SharedState;

pub(crate) async fn show(State(api): SharedState, mounted: Option<axum::Extension<NestedPath>>) -> Json<Value> {
    let mounted = mounted.as_ref().map_or("", |path| path.as_str());
    Json(crate::openapi::document(&api, mounted))
}
