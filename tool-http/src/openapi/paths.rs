//! The paths that are there whatever tools are.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::mirror;
use super::schemas::Schemas;
use crate::api::Shared;
use crate::routes::call::{CallQuery, Preview};
use crate::routes::dialects::{Definitions, DialectList, FormQuery};
use crate::routes::events::EventQuery;
use crate::routes::health::Health;
use crate::routes::journal::{JournalPage, JournalQuery};
use crate::routes::pending::{Abort, Approval, PendingList, PendingQuery, Refusal};
use crate::routes::tools::{ToolInFull, ToolList, ToolQuery};

/// All paths, but for those of the tools themselves.
pub(super) fn paths(api: &Shared, schemas: &mut Schemas) -> Map<String, Value> {
    let mut paths = Map::new();
    let mut path = |path: &str, item: Value| paths.insert(path.to_owned(), item);
    path("/health", json!({"get": reads::<Health>(schemas, "health", "Whether the server works.", json!([]))}));
    path(
        "/openapi.json",
        json!({"get": {
            "operationId": "openapi", "tags": ["server"], "summary": "This document.",
            "responses": answers(json!({"200": {"description": "OpenAPI 3.1.", "content": {"application/json": {}}}})),
        }}),
    );
    let query = schemas.query::<ToolQuery>();
    path("/tools", json!({"get": reads::<ToolList>(schemas, "list_tools", "The tools on offer.", query)}));
    path(
        "/tools/{name}",
        json!({
            "parameters": [in_path("The tool.")],
            "get": reads::<ToolInFull>(schemas, "show_tool", "A tool in full.", json!([])),
            "post": {
                "operationId": "call_tool", "tags": ["calls"],
                "summary": "Calls a tool. Each tool is also a path of its own, with its arguments.",
                "parameters": parameters_of_calls(schemas),
                "requestBody": arguments(),
                "responses": called(schemas, None),
            },
        }),
    );
    path(
        "/tools/{name}/preview",
        json!({"parameters": [in_path("The tool.")], "post": {
            "operationId": "preview_tool", "tags": ["calls"], "summary": "What a call would do. Nothing runs.",
            "parameters": parameters_of_calls(schemas),
            "requestBody": arguments(),
            "responses": answers(json!({"200": ok::<Preview>(schemas, "What it would do.")})),
        }}),
    );
    path(
        "/dialects",
        json!({"get": reads::<DialectList>(schemas, "list_dialects", "Whose forms there are.", json!([]))}),
    );
    let query = schemas.query::<FormQuery>();
    let read =
        reads::<Definitions>(schemas, "show_dialect", "The tools in a provider's form, and what is lost.", query);
    path("/dialects/{name}", json!({"parameters": [in_path("The provider.")], "get": read}));
    path("/events", json!({"get": events(schemas)}));
    if api.pending.is_some() {
        pending(&mut path, schemas);
    }
    if api.journal.is_some() {
        let query = schemas.query::<JournalQuery>();
        path("/journal", json!({"get": reads::<JournalPage>(schemas, "list_journal", "The calls on record.", query)}));
    }
    paths
}

fn pending(path: &mut impl FnMut(&str, Value) -> Option<Value>, schemas: &mut Schemas) {
    let query = schemas.query::<PendingQuery>();
    let listed = reads::<PendingList>(schemas, "list_pending", "The calls that wait for consent.", query);
    path("/pending", json!({"get": listed}));
    let runs = called(schemas, None);
    let mut answered = |name: &str, body: Value, summary: &str, responses: Value| {
        path(
            &format!("/pending/{name}"),
            json!({"post": {
                "operationId": format!("{name}_pending"), "tags": ["pending"], "summary": summary,
                "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
                "responses": responses,
            }}),
        );
    };
    let said = |schemas: &mut Schemas| {
        answers(json!({"200": ok::<mirror::ToolResult>(schemas, "What the call answers now.")}))
    };
    let body = schemas.of::<Approval>();
    answered("approve", body, "Runs a call that waits, with its own arguments or with edited ones.", runs);
    let (body, responses) = (schemas.of::<Refusal>(), said(schemas));
    answered("refuse", body, "Refuses a call that waits.", responses);
    let (body, responses) = (schemas.of::<Abort>(), said(schemas));
    answered("abort", body, "Refuses a call and whatever else of its conversation waits.", responses);
}

fn events(schemas: &mut Schemas) -> Value {
    let mut parameters = schemas.query::<EventQuery>();
    let header = "The id of the last event that was seen: those behind it come, as far as they are kept.";
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.push(in_header("Last-Event-ID", header));
    }
    let _ = schemas.of::<mirror::Event>();
    let description = "Server-sent events: `ready` first, then `started`, `pending`, `progress` and `finished`, each with \
                       an `Event` for data; `missed` says how many were lost (`{\"count\": 3}`, or `null` if none can say).";
    let stream = json!({"description": description, "content": {"text/event-stream": {"schema": {"type": "string"}}}});
    json!({
        "operationId": "watch_events", "tags": ["calls"], "summary": "What happens to calls, as it happens.",
        "parameters": parameters, "responses": answers(json!({"200": stream})),
    })
}

/// A `GET` that answers with a value of a type.
fn reads<T: JsonSchema>(schemas: &mut Schemas, id: &str, summary: &str, parameters: Value) -> Value {
    let tag = id.rsplit_once('_').map_or("server", |(_, noun)| noun.trim_end_matches('s'));
    json!({
        "operationId": id, "tags": [tag], "summary": summary, "parameters": parameters,
        "responses": answers(json!({"200": ok::<T>(schemas, summary)})),
    })
}

fn ok<T: JsonSchema>(schemas: &mut Schemas, description: &str) -> Value {
    json!({"description": description, "content": {"application/json": {"schema": schemas.of::<T>()}}})
}

/// Whatever else is answered is a problem.
fn answers(mut responses: Value) -> Value {
    responses["default"] = json!({"$ref": "#/components/responses/Problem"});
    responses
}

/// A problem of which more is said than its status.
fn problem_that(description: &str) -> Value {
    json!({"description": description, "content": {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
    }})
}

/// What a call answers; with the schema of its output, if that is known.
pub(super) fn called(schemas: &mut Schemas, output: Option<Value>) -> Value {
    let result = schemas.of::<mirror::ToolResult>();
    let schema = match output {
        None => result.clone(),
        Some(output) => json!({"allOf": [result, {"properties": {"output": output}}]}),
    };
    let streamed = "With `Accept: text/event-stream`: `progress` for each report of the tool, then `result`, with a \
                    `ToolResult` for data.";
    let stream = json!({"schema": {"type": "string", "description": streamed}});
    answers(json!({
        "200": {"description": "It went well.", "content": {
            "application/json": {"schema": schema}, "text/event-stream": stream,
        }},
        "202": {"description": "It waits for somebody's consent.", "content": {"application/json": {"schema": result}}},
        "409": problem_that("The outcome is unknown (`outcome_unknown`), a call with the same `Idempotency-Key` is in \
                             progress (`in_progress`), or the one that was made with it has failed for good."),
    }))
}

pub(super) fn parameters_of_calls(schemas: &mut Schemas) -> Value {
    let mut parameters = schemas.query::<CallQuery>();
    let key = "The id of the call, for a client that repeats its request after a lost connection: the call runs once, to \
               its end, and each request with this key gets its result. It needs a `conversation`, and a server that \
               records calls. The key is that of one call: with another tool or other arguments it is refused (422).";
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
