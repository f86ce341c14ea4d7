//! The router described as OpenAPI 3.1, whose schemas are JSON Schemas as the tools' own are.

pub(crate) mod mirror;
mod paths;
mod schemas;
mod tool;

use serde_json::{Value, json};

use self::schemas::Schemas;
use crate::api::Shared;
use crate::problem;

/// The document, for a router that is mounted at a path.
pub(crate) fn document(api: &Shared, mounted: &str) -> Value {
    let mut schemas = Schemas::new();
    let mut paths = paths::paths(api, &mut schemas);
    for (name, definition) in api.tools.definitions().iter() {
        paths.insert(format!("/tools/{name}"), tool::path(name, definition, &mut schemas));
    }
    let (problem, result) = (schemas.of::<problem::Document>(), schemas.of::<mirror::ToolResult>());
    let refused = json!({"anyOf": [problem, {"allOf": [problem, result]}]});
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Tools", "version": env!("CARGO_PKG_VERSION"), "description": "Tools that a model calls."},
        "servers": [{"url": if mounted.is_empty() { "/" } else { mounted }}],
        "paths": paths,
        "components": {
            "schemas": schemas.finish(),
            "responses": {"Problem": {
                "description": "Why it was not done, and what to do about it. If it was a call that failed, the result too.",
                "headers": {"Retry-After": {
                    "description": "After how many seconds another try may go well, where that is known.",
                    "schema": {"type": "integer", "minimum": 0},
                }},
                "content": {"application/problem+json": {"schema": refused}},
            }},
        },
    });
    if api.asks_token {
        document["components"]["securitySchemes"] = json!({"token": {"type": "http", "scheme": "bearer"}});
        document["security"] = json!([{"token": []}]);
    }
    document
}
