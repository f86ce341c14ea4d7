use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tool_http::{Api, Problem};
use tool_runtime::events::{EventKind, Update};
use tool_runtime::journal::MemoryJournal;
use tool_runtime::limits::{Limit, Limiter};
use tool_runtime::{ErrorKind, Policy, RuntimeTool, ToolError, ToolResult};

use crate::support::{Desk, User, builder, json, mounted, overloaded, post, request, router, send, serve, tools};

#[tokio::test]
async fn a_call_returns_its_result() {
    let answer = send(&router(), post("/api/tools/desk.add", &json!({"a": 1, "b": 2}))).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.json(), json!({"success": true, "output": "3", "error": null, "metadata": {}}));
}

#[tokio::test]
async fn passes_arguments_to_the_dispatcher_unchanged() {
    // The dispatcher repairs nearly valid arguments and rejects ambiguous ones.
    let router = router();
    let send_text = async |text: &'static str| {
        let request = request("POST", "/api/tools/desk.add").header("content-type", "application/json; charset=utf-8");
        send(&router, request.body(Body::from(text)).unwrap()).await
    };
    let repaired = send_text(r#"{"a": "1", "b": 2,}"#).await;
    assert_eq!((repaired.status, &repaired.json()["output"]), (StatusCode::OK, &json!("3")));
    assert!(repaired.json()["metadata"]["repairs"].is_array(), "{repaired:?}");
    let twice = send_text(r#"{"a": 1, "a": 2, "b": 3}"#).await;
    assert_eq!(twice.problem(), (422, "invalid_arguments".into()));
}

#[tokio::test]
async fn maps_each_failure_to_a_status_and_a_problem() {
    let router = mounted(Api::new(tools()).with(|_| Ok(User("ada".into()))));
    for (tool, arguments, expected) in [
        ("desk.nothing", json!({}), (404, "unknown_tool")),
        ("desk.add", json!({"a": "x"}), (422, "invalid_arguments")),
        ("desk.add", json!([1, 2]), (422, "invalid_arguments")),
        ("desk.fail", json!({"fatally": true}), (422, "fatal")),
        ("desk.fail", json!({"fatally": false}), (422, "retry")),
        ("desk.panic", json!({}), (500, "panicked")),
        ("desk.purge", json!({"host": "web-1"}), (403, "refused")),
    ] {
        let answer = send(&router, post(&format!("/api/tools/{tool}"), &arguments)).await;
        let (status, kind) = answer.problem();
        assert_eq!((status, kind.as_str()), expected, "{tool}");
        let result: tool_runtime::ToolResult = serde_json::from_str(&answer.text).expect("it is a result as well");
        assert_eq!((result.success, result.error.unwrap().kind.as_str()), (false, expected.1));
    }
    let answer = send(&router, post("/api/tools/desk.add", &json!({"a": "x"}))).await.json();
    assert_eq!(answer["error"]["arguments"][0]["path"], "a");
}

#[tokio::test]
async fn a_request_can_shorten_the_timeout_but_not_extend_it() {
    let desk = Desk::default();
    let call = async |api: Api, path: &str| send(&mounted(api), post(path, &json!({}))).await;
    let tools = || builder(&desk).build().unwrap();
    let asked = call(Api::new(tools()), "/api/tools/desk.wait?timeout_ms=5").await;
    assert_eq!(asked.problem(), (504, "timed_out".into()));
    assert_eq!(asked.json()["output"], "`desk.wait` did not finish within 5ms and was stopped.");

    let api = Api::new(tools()).max_timeout(Duration::from_millis(6));
    let longest = call(api, "/api/tools/desk.wait?timeout_ms=3600000").await;
    assert_eq!(longest.json()["output"], "`desk.wait` did not finish within 6ms and was stopped.");
    let own = builder(&desk).timeout(Duration::from_millis(7)).build().unwrap();
    let own = call(Api::new(own), "/api/tools/desk.wait?timeout_ms=3600000").await;
    assert_eq!(own.json()["output"], "`desk.wait` did not finish within 7ms and was stopped.");
}

#[tokio::test]
async fn a_dry_run_and_a_preview_run_nothing() {
    let desk = Desk::default();
    let router = mounted(Api::new(builder(&desk).policy(Policy::Yolo).build().unwrap()));
    let arguments = json!({"host": "web-1"});
    let dry = send(&router, post("/api/tools/desk.purge?dry_run=true", &arguments)).await;
    assert_eq!((dry.status, &dry.json()["metadata"]["preview"]), (StatusCode::OK, &json!({"command": "purge web-1"})));
    let preview = send(&router, post("/api/tools/desk.purge/preview", &arguments)).await;
    assert_eq!(preview.json(), json!({"effect": {"command": "purge web-1"}}));
    let without = send(&router, post("/api/tools/desk.add/preview", &json!({"a": 1, "b": 2}))).await;
    assert_eq!(without.json(), json!({"effect": null}));
    let wrong = send(&router, post("/api/tools/desk.purge/preview", &json!({"hots": 1}))).await;
    assert_eq!(wrong.problem(), (422, "invalid_arguments".into()));
    // A misspelt query parameter must not run anything.
    let misspelt = send(&router, post("/api/tools/desk.purge?dryrun=true", &arguments)).await;
    assert_eq!(misspelt.problem(), (400, "query".into()));
    assert_eq!(desk.purges.load(Ordering::SeqCst), 0);

    let control = send(&router, post("/api/tools/desk.purge", &arguments)).await;
    assert_eq!((control.status, desk.purges.load(Ordering::SeqCst)), (StatusCode::OK, 1));
}

#[tokio::test]
async fn the_same_call_runs_once() {
    let desk = Desk::default();
    let journal = Arc::new(MemoryJournal::new());
    let tools = builder(&desk).policy(Policy::Yolo).journal(journal).build().unwrap();
    let router = mounted(Api::new(tools));
    let call = async |path: &str, key: Option<&str>| {
        let request = request("POST", path);
        let request = match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        send(&router, json(request, &json!({"host": "web-1"}))).await
    };
    let path = "/api/tools/desk.purge?conversation=chat-7";
    let first = call(path, Some("1")).await;
    assert_eq!(first.json()["metadata"].get("replayed"), None);
    let again = call(path, Some("1")).await;
    assert_eq!(again.json()["metadata"]["replayed"], true);
    assert_eq!(desk.purges.load(Ordering::SeqCst), 1);
    call(path, Some("2")).await;
    call(path, None).await;
    assert_eq!(desk.purges.load(Ordering::SeqCst), 3, "another id, and none");

    let alone = call("/api/tools/desk.purge", Some("1")).await;
    assert_eq!(alone.problem(), (400, "idempotency_key".into()));
    assert_eq!(call(path, Some(&"k".repeat(300))).await.problem(), (400, "idempotency_key".into()));
    let control_character = call("/api/tools/desk.purge?conversation=a%00b", None).await;
    assert_eq!(control_character.problem(), (400, "conversation".into()));
    assert_eq!(desk.purges.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn temporary_failures_have_a_retryable_status() {
    let limiter = Limiter::new().tool("desk.add", Limit::total(1));
    let router = mounted(Api::new(builder(&Desk::default()).limit(limiter).build().unwrap()));
    let add = || post("/api/tools/desk.add", &json!({"a": 1, "b": 2}));
    assert_eq!(send(&router, add()).await.status, StatusCode::OK);
    let never = send(&router, add()).await;
    assert_eq!(never.problem(), (429, "rate_limited".into()));
    assert_eq!((never.header("retry-after"), never.json().get("retry_after")), ("", None), "it never will");
}

#[tokio::test]
async fn an_unavailable_worker_is_a_503() {
    let away = RuntimeTool::new("away", "", |(): ()| async {
        ToolResult::failure(ToolError::new(ErrorKind::Unavailable, "`away` did not run: nobody offers it."))
    });
    let router = mounted(Api::new(builder(&Desk::default()).tool(away).build().unwrap()));
    assert_eq!(send(&router, post("/api/tools/away", &json!({}))).await.problem(), (503, "unavailable".into()));
}

/// Uses a real connection: the delay is in the header and, more precisely, in the result.
#[tokio::test]
async fn sends_retry_after_if_the_delay_is_known() {
    let desk = Desk::default();
    let tools = builder(&desk).concurrency(1, 0).build().unwrap();
    let mut events = tools.events().subscribe();
    let address = serve(mounted(Api::new(tools))).await;
    let ask = async |tool: &str, arguments: &str| {
        let mut connection = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "POST /api/tools/{tool} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{arguments}",
            arguments.len()
        );
        connection.write_all(request.as_bytes()).await.unwrap();
        connection
    };
    let waiting = ask("desk.wait", "{}").await;
    while !matches!(events.next().await, Some(Update::Event(event)) if matches!(event.kind, EventKind::Progress { .. }))
    {
    }
    let mut answer = String::new();
    ask("desk.add", r#"{"a": 1, "b": 2}"#).await.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 503 ") && head.contains("\r\nretry-after: 1\r\n"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["retry_after"], &body["error"]["retry_after_ms"]), (&json!(1), &json!(1_000)));

    drop(waiting);
    desk.dropped.notified().await;
}

#[tokio::test]
async fn a_handler_can_set_retry_after() {
    let router = mounted(Api::new(builder(&Desk::default()).tool(overloaded()).build().unwrap()));
    let answer = send(&router, post("/api/tools/overloaded", &json!({}))).await;
    assert_eq!(answer.problem(), (422, "failed".into()));
    assert_eq!(answer.header("retry-after"), "2", "in whole seconds, and not too early");
    assert_eq!((&answer.json()["retry_after"], &answer.json()["error"]["retry_after_ms"]), (&json!(2), &json!(1_500)));
    let other = send(&router, post("/api/tools/desk.fail", &json!({"fatally": false}))).await;
    assert_eq!(other.header("retry-after"), "", "it does not know");
}

#[tokio::test]
async fn derives_the_user_from_the_request_or_rejects_it() {
    fn user(headers: &axum::http::HeaderMap) -> Result<User, Problem> {
        match headers.get("x-user").and_then(|user| user.to_str().ok()) {
            Some(user) => Ok(User(user.to_owned())),
            None => Err(Problem::new(StatusCode::FORBIDDEN, "no_user", "Say who you are, in `X-User`.")),
        }
    }
    let sync = Api::new(tools()).with(|request| user(&request.headers));
    let fetched = Api::new(tools()).with_async(|request| async move {
        tokio::task::yield_now().await;
        user(&request.headers)
    });
    for router in [mounted(sync), mounted(fetched)] {
        let who = || request("POST", "/api/tools/desk.who");
        let answer = send(&router, json(who().header("x-user", "ada"), &json!({}))).await;
        assert_eq!(answer.json()["output"], "ada");
        let refused = send(&router, json(who(), &json!({}))).await;
        assert_eq!(refused.problem(), (403, "no_user".into()));
        // The arguments cannot set it.
        let injected = send(&router, json(who().header("x-user", "ada"), &json!({"user": "eve"}))).await;
        assert_eq!(injected.problem(), (422, "invalid_arguments".into()));
    }
    let missing = send(&router(), post("/api/tools/desk.who", &json!({}))).await;
    assert_eq!(missing.problem(), (503, "injection".into()));
}

#[tokio::test]
async fn the_application_keeps_conversations_apart() {
    let journal = Arc::new(MemoryJournal::new());
    let tools = builder(&Desk::default()).journal(journal.clone()).build().unwrap();
    let api = Api::new(tools).journal(journal).conversation(|request, named| {
        let user = request.headers.get("x-user").and_then(|user| user.to_str().ok()).unwrap_or("nobody");
        Ok(format!("{user}/{}", named.unwrap_or("-")))
    });
    let router = mounted(api);
    let ask = |method: &str, path: &str, user: &str| request(method, path).header("x-user", user);
    let path = "/api/tools/desk.add?conversation=c";
    send(&router, json(ask("POST", path, "ada"), &json!({"a": 1, "b": 2}))).await;
    let entries = async |user: &str| -> Vec<Value> {
        let request = ask("GET", "/api/journal?conversation=c", user).body(Body::empty()).unwrap();
        send(&router, request).await.json()["entries"].as_array().unwrap().clone()
    };
    assert_eq!(entries("ada").await[0]["conversation"], "ada/c");
    assert_eq!(entries("bob").await, [] as [Value; 0]);
}
