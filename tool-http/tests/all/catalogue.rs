use serde_json::{Value, json};

use crate::support::{get, router, send};

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tools_are_listed_and_found() {
    let router = router();
    let list = async |query: &str| send(&router, get(&format!("/api/tools{query}"))).await.json();

    let all = list("").await;
    assert_eq!(
        names(&all),
        ["desk.add", "desk.count", "desk.fail", "desk.order", "desk.panic", "desk.purge", "desk.wait", "desk.who"]
    );
    assert_eq!(
        all["tools"][0],
        json!({
            "name": "desk.add", "description": "Add two numbers.", "category": "sums", "tags": ["math", "quick"],
            "sensitive": false, "sequential": false, "read_only": true, "destructive": false, "idempotent": false,
            "supports_streaming": false,
        })
    );
    assert_eq!(names(&list("?tags=math").await), ["desk.add", "desk.fail"]);
    assert_eq!(names(&list("?tags=math,quick").await), ["desk.add"]);
    assert_eq!(names(&list("?category=sums").await), ["desk.add"]);
    assert_eq!(names(&list("?sensitive=true").await), ["desk.purge"]);
    assert_eq!(names(&list("?read_only=true").await), ["desk.add"]);
    assert_eq!(names(&list("?search=deleting%20points").await)[0], "desk.purge");
    assert_eq!(names(&list("?search=numbers&category=sums").await), ["desk.add"]);
    assert_eq!(names(&list("?search=weather").await), [""; 0]);
    let few = list("?limit=2").await;
    assert_eq!((names(&few).len(), &few["offered"]), (2, &json!(8)));
}

#[tokio::test]
async fn shows_a_tool_with_its_schemas() {
    let router = router();
    let tool = send(&router, get("/api/tools/desk.order")).await.json();
    assert_eq!(tool["parameters"]["properties"]["items"]["items"], json!({"$ref": "#/$defs/Item"}));
    assert_eq!(tool["instructions"], "Ask before you order.");
    assert_eq!(tool["timeout_ms"], 5_000);
    assert!(tool["returns"].is_object(), "{tool}");
    assert_eq!(send(&router, get("/api/tools/desk.odrer")).await.problem(), (404, "unknown_tool".into()));
}

#[tokio::test]
async fn shows_each_dialect_with_its_loss_report() {
    let router = router();
    let dialects = send(&router, get("/api/dialects")).await.json();
    let dialects: Vec<&str> =
        dialects["dialects"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(dialects.len(), 7);
    for dialect in dialects {
        let shown = send(&router, get(&format!("/api/dialects/{dialect}"))).await.json();
        let definitions = shown["definitions"].to_string();
        assert!(definitions.contains("desk__order") || definitions.contains("desk.order"), "{shown}");
    }
    let strict = send(&router, get("/api/dialects/openai?strict=true&tool=desk.add")).await.json();
    assert_eq!(strict["definitions"].as_array().unwrap().len(), 1);
    assert_eq!(strict["definitions"][0]["function"]["strict"], true);
    assert_eq!(strict["report"], json!([]));
    let lossy = send(&router, get("/api/dialects/gemini?tool=desk.order")).await.json();
    let found = &lossy["report"][0];
    assert_eq!((&found["tool"], &found["kind"]), (&json!("desk.order"), &json!("recursive")), "{lossy}");
    assert!(["note", "loss", "limit"].contains(&found["level"].as_str().unwrap()));

    assert_eq!(send(&router, get("/api/dialects/klingon")).await.problem(), (404, "unknown_dialect".into()));
    assert_eq!(send(&router, get("/api/dialects/openai?tool=x")).await.problem(), (404, "unknown_tool".into()));
}

#[tokio::test]
async fn rejects_unknown_names_and_parameters() {
    let router = router();
    for (path, expected) in [
        ("/api/tools?tag=math", (400, "query")),
        ("/api/tools?limit=many", (400, "query")),
        ("/api/dialects/openai?strict=yes", (400, "query")),
        ("/api/nothing", (404, "path")),
        ("/api/tools/%ff", (400, "path")),
        // Without pending calls and a journal these routes do not exist.
        ("/api/pending?conversation=c", (404, "path")),
        ("/api/journal", (404, "path")),
    ] {
        let (status, kind) = send(&router, get(path)).await.problem();
        assert_eq!((status, kind.as_str()), expected, "{path}");
    }
    let wrong_method = crate::support::request("DELETE", "/api/tools").header("x-requested-with", "test");
    let answer = send(&router, wrong_method.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(answer.problem(), (405, "method".into()));
}

#[tokio::test]
async fn reports_its_health() {
    let health = send(&router(), get("/api/health")).await.json();
    assert_eq!(health, json!({"status": "ok", "tools": 8, "running": null, "waiting": null}));
}
