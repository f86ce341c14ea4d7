//! The fixed paths of the OpenAPI document.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::mirror;
use super::schemas::ComponentSchemas;
use crate::api::ApiState;
use crate::routes::call::{CallPreview, CallQuery};
use crate::routes::dialects::{DialectDefinitions, DialectList, FormQuery};
use crate::routes::events::EventQuery;
use crate::routes::health::Health;
use crate::routes::journal::{JournalPage, JournalQuery};
use crate::routes::pending::{AbortRequest, ApprovalRequest, DecisionQuery, PendingList, PendingQuery, RefusalRequest};
use crate::routes::tools::{ToolDetails, ToolList, ToolQuery};

/// Returns all paths except those of the tools.
pub(super) fn paths(api: &ApiState, schemas: &mut ComponentSchemas) -> Map<String, Value> {
    let mut paths = Map::new();
    let mut path = |path: &str, item: Value| paths.insert(path.to_owned(), item);
    path(
        "/health",
        json!({"get": get_operation::<Health>(schemas, "health", "Returns the health of the server.", json!([]))}),
    );
    path(
        "/openapi.json",
        json!({"get": {
            "operationId": "openapi", "tags": ["server"], "summary": "Returns this document.",
            "responses": with_problem(json!({"200": {"description": "OpenAPI 3.1.", "content": {"application/json": {}}}})),
        }}),
    );
    let query = schemas.query::<ToolQuery>();
    path("/tools", json!({"get": get_operation::<ToolList>(schemas, "list_tools", "Lists the tools.", query)}));
    path(
        "/tools/{name}",
        json!({
            "parameters": [in_path("The name of the tool.")],
            "get": get_operation::<ToolDetails>(schemas, "show_tool", "Returns a tool with its schemas.", json!([])),
            "post": {
                "operationId": "call_tool", "tags": ["calls"],
                "summary": "Calls a tool. Each tool also has its own path with the schema of its arguments.",
                "parameters": call_parameters(schemas),
                "requestBody": arguments(),
                "responses": call_responses(schemas, None),
            },
        }),
    );
    path(
        "/tools/{name}/preview",
        json!({"parameters": [in_path("The name of the tool.")], "post": {
            "operationId": "preview_tool", "tags": ["calls"], "summary": "Previews a call without running it.",
            "parameters": call_parameters(schemas),
            "requestBody": arguments(),
            "responses": with_problem(json!({"200": ok::<CallPreview>(schemas, "The effect that the call would have.")})),
        }}),
    );
    path(
        "/dialects",
        json!({"get": get_operation::<DialectList>(schemas, "list_dialects", "Lists the dialects.", json!([]))}),
    );
    let query = schemas.query::<FormQuery>();
    let read = get_operation::<DialectDefinitions>(
        schemas,
        "show_dialect",
        "Returns the tools in a dialect, with a loss report.",
        query,
    );
    path("/dialects/{name}", json!({"parameters": [in_path("The dialect.")], "get": read}));
    path("/events", json!({"get": events(schemas)}));
    if api.pending.is_some() {
        pending(&mut path, schemas);
    }
    if api.journal.is_some() {
        let query = schemas.query::<JournalQuery>();
        path(
            "/journal",
            json!({"get": get_operation::<JournalPage>(schemas, "list_journal", "Lists the journal entries.", query)}),
        );
    }
    paths
}

fn pending(path: &mut impl FnMut(&str, Value) -> Option<Value>, schemas: &mut ComponentSchemas) {
    let query = schemas.query::<PendingQuery>();
    let listed = get_operation::<PendingList>(schemas, "list_pending", "Lists the pending calls.", query);
    path("/pending", json!({"get": listed}));
    let runs = call_responses(schemas, None);
    let parameters = schemas.query::<DecisionQuery>();
    let mut decision = |name: &str, body: Value, summary: &str, responses: Value| {
        path(
            &format!("/pending/{name}"),
            json!({"post": {
                "operationId": format!("{name}_pending"), "tags": ["pending"], "summary": summary,
                "parameters": parameters,
                "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
                "responses": responses,
            }}),
        );
    };
    let refused = |schemas: &mut ComponentSchemas| {
        with_problem(json!({"200": ok::<mirror::ToolResult>(schemas, "The result of the refused call.")}))
    };
    let body = schemas.reference::<ApprovalRequest>();
    decision("approve", body, "Approves and runs a pending call, with its own or with edited arguments.", runs);
    let (body, responses) = (schemas.reference::<RefusalRequest>(), refused(schemas));
    decision("refuse", body, "Refuses a pending call.", responses);
    let (body, responses) = (schemas.reference::<AbortRequest>(), refused(schemas));
    decision("abort", body, "Refuses all pending calls of a conversation.", responses);
}

fn events(schemas: &mut ComponentSchemas) -> Value {
    let mut parameters = schemas.query::<EventQuery>();
    let header = "The id of the last received event. The stream continues after it, as far as events are kept.";
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.push(in_header("Last-Event-ID", header));
    }
    let _ = schemas.reference::<mirror::Event>();
    let description = "Server-sent events: first `ready`, then `started`, `pending`, `progress` and `finished`, each with \
                       an `Event` as its data, and `missed` with the number of lost events (`{\"count\": 3}`; `null` if \
                       unknown).";
    let stream = json!({"description": description, "content": {"text/event-stream": {"schema": {"type": "string"}}}});
    json!({
        "operationId": "watch_events", "tags": ["calls"], "summary": "Streams the events of calls.",
        "parameters": parameters, "responses": with_problem(json!({"200": stream})),
    })
}

/// Returns a `GET` operation whose response is a `T`.
fn get_operation<T: JsonSchema>(schemas: &mut ComponentSchemas, id: &str, summary: &str, parameters: Value) -> Value {
    let tag = id.rsplit_once('_').map_or("server", |(_, noun)| noun.trim_end_matches('s'));
    json!({
        "operationId": id, "tags": [tag], "summary": summary, "parameters": parameters,
        "responses": with_problem(json!({"200": ok::<T>(schemas, summary)})),
    })
}

fn ok<T: JsonSchema>(schemas: &mut ComponentSchemas, description: &str) -> Value {
    json!({"description": description, "content": {"application/json": {"schema": schemas.reference::<T>()}}})
}

/// Adds the default response, which is a problem.
fn with_problem(mut responses: Value) -> Value {
    responses["default"] = json!({"$ref": "#/components/responses/Problem"});
    responses
}

/// Returns a problem response with a description.
fn problem_response(description: &str) -> Value {
    json!({"description": description, "content": {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
    }})
}

/// Returns the responses of a call, with the schema of its output if it is known.
pub(super) fn call_responses(schemas: &mut ComponentSchemas, output: Option<Value>) -> Value {
    let result = schemas.reference::<mirror::ToolResult>();
    let schema = match output {
        None => result.clone(),
        Some(schema) => {
            let text = json!({"type": "string", "contentMediaType": "application/json", "contentSchema": schema});
            json!({"allOf": [result, {"properties": {"output": text, "structured": schema}}]})
        }
    };
    let streamed = "With `Accept: text/event-stream`: `progress` for each report of the tool, then `result` with a \
                    `ToolResult` as its data.";
    let stream = json!({"schema": {"type": "string", "description": streamed}});
    with_problem(json!({
        "200": {"description": "The call succeeded.", "content": {
            "application/json": {"schema": schema}, "text/event-stream": stream,
        }},
        "202": {"description": "The call waits for approval.", "content": {"application/json": {"schema": result}}},
        "409": problem_response("The outcome is unknown (`outcome_unknown`), a call with the same `Idempotency-Key` is in \
                             progress (`in_progress`), or the one that was made with it has failed for good."),
    }))
}

pub(super) fn call_parameters(schemas: &mut ComponentSchemas) -> Value {
    let mut parameters = schemas.query::<CallQuery>();
    let key = "Makes the request safe to repeat: the call runs once, to its end, and each request with this key gets its \
               result. Needs a `conversation` and a server with a journal. A key that was used with another tool or other \
               arguments is refused (422).";
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.push(in_header("Idempotency-Key", key));
    }
    parameters
}

fn arguments() -> Value {
    let schema = json!({"type": "object", "description": "The arguments of the tool."});
    json!({"required": false, "content": {"application/json": {"schema": schema}}})
}

fn in_path(description: &str) -> Value {
    json!({"name": "name", "in": "path", "required": true, "schema": {"type": "string"}, "description": description})
}

fn in_header(name: &str, description: &str) -> Value {
    json!({"name": name, "in": "header", "required": false, "schema": {"type": "string"}, "description": description})
}
