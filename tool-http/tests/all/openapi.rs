//! The OpenAPI document: it passes a real validator, and responses match it.
//!
//! The validator is a Python package. If it is not available, the test prints that and passes; with
//! `OPENAPI_PYTHON=required`, as in CI, it fails instead.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use test_packages::{PyPi, run};
use tool_http::{Api, Token};
use tool_runtime::RuntimeTool;
use tool_runtime::confirm::{Deferred, SealingKey};
use tool_runtime::journal::MemoryJournal;

use crate::support::{Desk, Stream, User, builder, get, mounted, overloaded, post, request, send};

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");
static VALIDATOR: PyPi = PyPi::new(include_str!("../python/requirements.txt"), "OPENAPI_PYTHON", TARGET);

/// A generic type: its name and that of its parameter are escaped in references.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Page<{T}>")]
struct Page<T> {
    #[serde(rename = "items")]
    _items: Vec<T>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Größe/%41~")]
struct Size {
    #[serde(rename = "width")]
    _width: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Print {
    #[serde(rename = "page")]
    _page: Page<Size>,
}

/// A router with all routes.
fn full_router() -> Router {
    let journal = Arc::new(MemoryJournal::new());
    // Difficult schemas: a reference as a default, a property named `$ref`, a type name with special characters.
    let schema = json!({
        "type": "object",
        "properties": {
            "$ref": {"type": "string"},
            "page": {"$ref": "#/$defs/Page<Item>"},
            "shape": {"type": "object", "default": {"$ref": "#/$defs/Page<Item>"}},
        },
        "$defs": {"Page<Item>": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Page<Item>"}}}},
    });
    let odd = RuntimeTool::from_schema("odd-one", "Odd.", &schema, |_, _| async { "fine" });
    let print = RuntimeTool::new("print", "Print.", |_: Print| async { "printed" });
    let tools =
        builder(&Desk::default()).tool(odd).tool(print).tool(overloaded()).journal(journal.clone()).build().unwrap();
    let waiting = Deferred::new(SealingKey::random().unwrap());
    mounted(Api::new(tools).pending(waiting).journal(journal).with(|_| Ok(User("ada".into()))))
}

async fn document(router: &Router) -> Value {
    send(router, get("/api/openapi.json")).await.json()
}

/// Validates a value against a schema of the document.
fn fits(document: &Value, schema: &Value, value: &Value) {
    let mut root = schema.clone();
    root["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&root).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?} in {value}");
}

fn schema_of<'a>(document: &'a Value, path: &str, method: &str, status: &str) -> &'a Value {
    let response = &document["paths"][path][method]["responses"][status];
    let schema = &response["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{path} {method} {status}: {response}");
    schema
}

#[tokio::test]
async fn responses_match_the_openapi_document() {
    let router = full_router();
    let document = document(&router).await;
    let order = json!({"items": [{"sku": "a", "parts": [{"sku": "b"}]}]});
    send(&router, post("/api/tools/desk.order?conversation=c", &order)).await;
    send(&router, post("/api/tools/desk.purge?conversation=c", &json!({"host": "web-1"}))).await;
    for (path, described) in [
        ("/health", "/health"),
        ("/tools", "/tools"),
        ("/tools/desk.order", "/tools/{name}"),
        ("/dialects", "/dialects"),
        ("/dialects/gemini", "/dialects/{name}"),
        ("/pending?conversation=c", "/pending"),
        ("/journal", "/journal"),
    ] {
        let answer = send(&router, get(&format!("/api{path}"))).await;
        assert_eq!(answer.status, 200, "{path}");
        fits(&document, schema_of(&document, described, "get", "200"), &answer.json());
    }
    for (path, body, described, status) in [
        ("/tools/desk.add", json!({"a": 1, "b": 2}), "/tools/desk.add", "200"),
        ("/tools/desk.order", order, "/tools/desk.order", "200"),
        ("/tools/desk.add", json!({"a": 1, "b": 2}), "/tools/{name}", "200"),
        ("/tools/desk.purge", json!({"host": "web-1"}), "/tools/desk.purge", "202"),
        ("/tools/desk.purge/preview", json!({"host": "web-1"}), "/tools/{name}/preview", "200"),
    ] {
        let answer = send(&router, post(&format!("/api{path}"), &body)).await;
        assert_eq!(answer.status.as_str(), status, "{path}: {answer:?}");
        fits(&document, schema_of(&document, described, "post", status), &answer.json());
    }
    let refused = &document["components"]["responses"]["Problem"]["content"]["application/problem+json"]["schema"];
    for request in
        [get("/api/nothing"), post("/api/tools/desk.add", &json!({"a": "x"})), post("/api/tools/nothing", &json!({}))]
    {
        fits(&document, refused, &send(&router, request).await.json());
    }
    let mut events = Stream::open(&router, get("/api/events")).await;
    events.next().await.unwrap();
    send(&router, post("/api/tools/desk.count", &json!({"to": 1}))).await;
    send(&router, post("/api/tools/desk.purge", &json!({"host": "web-1"}))).await;
    for expected in ["started", "progress", "finished", "started", "pending"] {
        let sent = events.next().await.unwrap();
        assert_eq!(sent.name, expected);
        fits(&document, &json!({"$ref": "#/components/schemas/Event"}), &sent.data);
    }
}

#[tokio::test]
async fn each_tool_is_a_path_with_its_own_arguments() {
    let document = document(&full_router()).await;
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], "/api");
    let schema = |tool: &str| {
        document["paths"][format!("/tools/{tool}")]["post"]["requestBody"]["content"]["application/json"]["schema"]
            .clone()
    };
    assert_eq!(schema("desk.add")["required"], json!(["a", "b"]));
    assert_eq!(
        schema("desk.order")["properties"]["items"]["items"],
        json!({"$ref": "#/components/schemas/desk.order.Item"})
    );
    let odd = schema("odd-one");
    assert_eq!(odd["properties"]["$ref"], json!({"type": "string"}), "a property that is called like a keyword");
    assert_eq!(odd["properties"]["shape"]["default"]["$ref"], "#/$defs/Page<Item>", "a value is no reference");
    assert_eq!(odd["properties"]["page"]["$ref"], "#/components/schemas/odd-one.Page-3c-Item-3e-");
    assert!(schema("print")["properties"]["page"]["$ref"].is_string(), "{}", schema("print"));
    assert_every_reference_leads_somewhere(&document, &document);
    assert_eq!(document["components"]["schemas"]["Problem"]["required"], json!(["status", "title", "kind", "detail"]));

    let order = json!({"items": [{"sku": "a", "parts": [{"sku": "b"}]}]});
    fits(&document, &schema("desk.order"), &order);
    let mut wrong = schema("desk.order");
    wrong["components"] = document["components"].clone();
    assert!(!jsonschema::is_valid(&wrong, &json!({"items": [{"parts": [{}]}]})), "the types are described in depth");
}

fn assert_every_reference_leads_somewhere(document: &Value, part: &Value) {
    match part {
        Value::Array(parts) => parts.iter().for_each(|part| assert_every_reference_leads_somewhere(document, part)),
        Value::Object(parts) => {
            for (key, part) in parts.iter().filter(|(key, _)| *key != "default") {
                if let (true, Some(reference)) = (key == "$ref", part.as_str()) {
                    let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference}"));
                    assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
                }
                assert_every_reference_leads_somewhere(document, part);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn a_result_with_a_schema_is_structured() {
    let router = full_router();
    let document = document(&router).await;
    let order = json!({"items": [{"sku": "a", "parts": []}]});
    let ordered = send(&router, post("/api/tools/desk.order", &order)).await.json();
    assert_eq!(ordered["structured"], order);
    assert_eq!(ordered["output"], r#"{"items":[{"sku":"a","parts":[]}]}"#, "the model's text stays");
    let described = schema_of(&document, "/tools/desk.order", "post", "200");
    fits(&document, described, &ordered);
    let mut wrong = described.clone();
    wrong["components"] = document["components"].clone();
    let mut broken = ordered;
    broken["structured"] = json!({"items": 1});
    assert!(!jsonschema::is_valid(&wrong, &broken), "the schema of `structured` is described");

    let streamed = json_request("/api/tools/desk.order", "text/event-stream", &order);
    let events = Stream::open(&router, streamed).await.all().await;
    assert_eq!(events.last().unwrap().data["structured"], order);

    // The controls: a number has no schema, and a failure or a dry run no output of the tool.
    for (path, body) in [
        ("/api/tools/desk.add", json!({"a": 1, "b": 2})),
        ("/api/tools/desk.order", json!({"items": 1})),
        ("/api/tools/desk.order?dry_run=true", order),
    ] {
        let answer = send(&router, post(path, &body)).await.json();
        assert!(answer.get("structured").is_none(), "{path}: {answer}");
    }
}

fn json_request(path: &str, accept: &str, body: &Value) -> axum::http::Request<axum::body::Body> {
    crate::support::json(request("POST", path).header("accept", accept), body)
}

#[tokio::test]
async fn describes_retry_after() {
    let router = full_router();
    let document = document(&router).await;
    let answer = send(&router, post("/api/tools/overloaded", &json!({}))).await;
    let error = &document["components"]["schemas"]["ToolError"];
    assert!(error["properties"]["retry_after_ms"].is_object() && answer.json()["error"]["retry_after_ms"].is_u64());
    assert_eq!(error["required"], json!(["kind", "message"]));
    let described = &document["components"]["responses"]["Problem"];
    fits(&document, &described["content"]["application/problem+json"]["schema"], &answer.json());
    let seconds: u64 = answer.header("retry-after").parse().unwrap();
    fits(&document, &described["headers"]["Retry-After"]["schema"], &json!(seconds));
}

#[tokio::test]
async fn describes_the_token_if_required() {
    let without = document(&full_router()).await;
    assert!(without.get("security").is_none());
    let tools = builder(&Desk::default()).build().unwrap();
    let router: Router = Api::new(tools).token(Token::new("correct-horse-battery").unwrap()).into_router();
    let ask = request("GET", "/openapi.json").header("authorization", "Bearer correct-horse-battery");
    let with = send(&router, ask.body(axum::body::Body::empty()).unwrap()).await.json();
    assert_eq!(with["components"]["securitySchemes"]["token"]["scheme"], "bearer");
    assert_eq!(with["servers"][0]["url"], "/");
    assert!(with["paths"].get("/pending").is_none() && with["paths"].get("/journal").is_none());
}

#[tokio::test]
async fn the_document_is_valid_openapi() {
    let Some(python) = VALIDATOR.installed() else { return };
    let described = document(&full_router()).await;
    let check = |name: &str, document: &Value| {
        let file = Path::new(TARGET).join(format!("{name}.json"));
        fs::write(&file, document.to_string()).expect("the target folder can be written");
        run(python.command().args(["-m", "openapi_spec_validator"]).arg(&file))
    };
    check("openapi", &described).unwrap_or_else(|error| panic!("{error}"));
    // The control: the validator rejects broken documents.
    let mut broken = described.clone();
    broken["paths"]["/tools/desk.add"]["post"]["responses"] = json!("none");
    let mut lost = described;
    lost["paths"]["/tools"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"] =
        json!("#/components/schemas/Nothing");
    for (name, document) in [("broken", broken), ("lost", lost)] {
        assert!(check(name, &document).is_err(), "{name}");
    }
}
