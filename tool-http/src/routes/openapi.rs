//! What is served, described.

use axum::Json;
use axum::extract::{NestedPath, State};
use serde_json::Value;

use super::Api;

pub(crate) async fn show(State(api): Api, mounted: Option<axum::Extension<NestedPath>>) -> Json<Value> {
    let mounted = mounted.as_ref().map_or("", |path| path.as_str());
    Json(crate::openapi::document(&api, mounted))
}
