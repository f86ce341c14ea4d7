//! The OpenAPI 3.1 document of the router. OpenAPI 3.1 uses JSON Schema, as the tools do.

pub(crate) mod mirror;
mod paths;
mod schemas;
mod tool;

use serde_json::{Value, json};

use self::schemas::ComponentSchemas;
use crate::api::ApiState;
use crate::problem;

/// Returns the document for a router that is mounted at a path.
pub(crate) fn document(api: &ApiState, mounted: &str) -> Value {
    let mut schemas = ComponentSchemas::new();
    let mut paths = paths::paths(api, &mut schemas);
    for (name, definition) in api.tools.definitions().iter() {
        paths.insert(format!("/tools/{name}"), tool::path(name, definition, &mut schemas));
    }
    let (problem, result) =
        (schemas.reference::<problem::ProblemDocument>(), schemas.reference::<mirror::ToolResult>());
    let failure = json!({"anyOf": [problem, {"allOf": [problem, result]}]});
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Tools", "version": env!("CARGO_PKG_VERSION"), "description": "Tools for language models."},
        "servers": [{"url": if mounted.is_empty() { "/" } else { mounted }}],
        "paths": paths,
        "components": {
            "schemas": schemas.finish(),
            "responses": {"Problem": {
                "description": "Problem details (RFC 9457). For a failed call, they include its result.",
                "headers": {"Retry-After": {
                    "description": "Delay in seconds after which to retry, if known.",
                    "schema": {"type": "integer", "minimum": 0},
                }},
                "content": {"application/problem+json": {"schema": failure}},
            }},
        },
    });
    if api.needs_token {
        document["components"]["securitySchemes"] = json!({"token": {"type": "http", "scheme": "bearer"}});
        document["security"] = json!([{"token": []}]);
    }
    document
}
