//! The description: a real validator takes it, and what is served is what it says.
//!
//! The validator is a Python package, installed at a fixed version into an environment below the target folder. Where
//! there is no Python, or nowhere to install from, the test says so and passes; with `OPENAPI_PYTHON=required`, as in CI,
//! it fails instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use axum::Router;
use serde_json::{Value, json};
use tool_http::{Api, Token};
use tool_runtime::confirm::Key;
use tool_runtime::journal::MemoryJournal;
use tool_runtime::{Deferred, RuntimeTool};

use crate::support::{Desk, Stream, User, builder, get, mounted, post, request, send};

/// A router with all there is.
fn whole() -> Router {
    let journal = Arc::new(MemoryJournal::new());
    // What a document could stumble over: a reference as a default, a property of that name, a type with odd letters.
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
    let tools = builder(&Desk::default()).tool(odd).journal(journal.clone()).build().unwrap();
    let waiting = Deferred::new(Key::random().unwrap());
    mounted(Api::new(tools).pending(waiting).journal(journal).with(|_| Ok(User("ada".into()))))
}

async fn document(router: &Router) -> Value {
    send(router, get("/api/openapi.json")).await.json()
}

/// Checks a value against a schema of the document.
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
async fn what_is_served_is_what_is_described() {
    let router = whole();
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
    let document = document(&whole()).await;
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
async fn a_token_is_described_where_one_is_asked_for() {
    let without = document(&whole()).await;
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
async fn a_validator_agrees() {
    let python = match environment() {
        Ok(python) => python,
        Err(reason) if std::env::var_os("OPENAPI_PYTHON").is_none_or(|wanted| wanted != "required") => {
            println!("skipped, the validator is not at hand: {reason}");
            return;
        }
        Err(reason) => panic!("the validator is not at hand: {reason}"),
    };
    let described = document(&whole()).await;
    let check = |name: &str, document: &Value| {
        let file = target().join(format!("{name}.json"));
        fs::write(&file, document.to_string()).expect("the target folder can be written");
        run(Command::new(&python).args(["-B", "-m", "openapi_spec_validator"]).arg(&file))
    };
    check("openapi", &described).unwrap_or_else(|error| panic!("{error}"));
    // The control: it would have told.
    let mut broken = described.clone();
    broken["paths"]["/tools/desk.add"]["post"]["responses"] = json!("none");
    let mut lost = described;
    lost["paths"]["/tools"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"] =
        json!("#/components/schemas/Nothing");
    for (name, document) in [("broken", broken), ("lost", lost)] {
        assert!(check(name, &document).is_err(), "{name}");
    }
}

fn target() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// The Python of an environment with the validator, which is made once for each version of it.
fn environment() -> Result<PathBuf, String> {
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/requirements.txt");
    let wanted = fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let folder = target().join("openapi-validator");
    let bin = if cfg!(windows) { "Scripts" } else { "bin" };
    let python = folder.join(bin).join("python");
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    run(Command::new(&python).args(pip).arg(&requirements))?;
    fs::write(installed, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Err(format!("{command:?} failed:\n{}{}", said(&output.stdout), said(&output.stderr)))
}
