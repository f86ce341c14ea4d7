//! Dependencies and failures of providers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tool_runtime::inject::InjectError;
use tool_runtime::{ErrorKind, Scope, ToolCall};

use super::{Repository, Session, lines, tools};

#[tokio::test]
async fn names_the_providers_of_a_cycle() {
    let tools = tools("::Store::save")
        .provide("session", |scope: Scope| async move {
            scope.get::<Repository>("repository").await.map(|repository| repository.session)
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("session").await? })
        })
        .build()
        .unwrap();
    let result = tools.call(ToolCall::new("store.save", json!({"text": "a"}))).await;
    assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::Injection);
    assert!(result.output.contains("form a cycle: session -> repository -> session"), "{}", result.output);

    let error = tools.check().await.unwrap_err();
    assert!(error.to_string().contains("form a cycle"), "{error}");
}

#[tokio::test]
async fn concurrent_requests_of_providers_get_the_same_value() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let tools = tools("::Draft::consume")
        .provide("base", move |_| {
            let count = count.clone();
            async move {
                tokio::task::yield_now().await;
                Ok::<_, String>(count.fetch_add(1, Ordering::SeqCst))
            }
        })
        .provide("opening", |scope: Scope| async move {
            let (one, other) = tokio::join!(scope.get::<usize>("base"), scope.get::<usize>("base"));
            Ok::<_, InjectError>(format!("{}{}", one?, other?))
        })
        .build()
        .unwrap();
    assert!(tools.call(ToolCall::new("draft.consume", json!({}))).await.success);
    assert_eq!(made.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn check_finds_dependencies_hidden_in_closures_and_rolls_back() {
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = ends.clone();
    let tools = tools("::Store::save")
        .provide("session", |_| async { Ok::<_, String>(Session { id: 0, log: Arc::default() }) })
        .finish("session", move |_: Session, outcome| {
            log.lock().unwrap().push(format!("{outcome:?}"));
            async {}
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("sesion").await? })
        })
        .provide("odd", |scope: Scope| async move { scope.get::<u8>("session").await })
        .build()
        .unwrap();
    let error = tools.check().await.unwrap_err().to_string();
    assert!(error.contains("nothing is provided as \"sesion\"; did you mean \"session\"?"), "{error}");
    assert!(error.contains("\"session\" is a all::injection::Session, not a u8"), "{error}");
    assert_eq!(lines(&ends), ["Cancelled"]);
}

#[tokio::test]
async fn a_provider_that_fails_or_panics_fails_the_call() {
    let failing =
        tools("::Draft::consume").provide("opening", |_| async { Err::<String, _>("no database") }).build().unwrap();
    let result = failing.call(ToolCall::new("draft.consume", json!({}))).await;
    assert_eq!(result.output, "`draft.consume` did not run: it is unavailable right now. Try again later.");

    let panicking = tools("::Draft::consume")
        .provide("opening", |_| async {
            if true {
                panic!("out of luck");
            }
            Ok::<String, String>(String::new())
        })
        .build()
        .unwrap();
    let result = panicking.call(ToolCall::new("draft.consume", json!({}))).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Injection, "the handler did not run");
    assert!(!result.output.contains("out of luck"), "{}", result.output);
    assert!(panicking.check().await.unwrap_err().to_string().contains("out of luck"));
}

#[tokio::test]
async fn a_scope_that_outlives_its_call_builds_nothing_more() {
    let kept: Arc<Mutex<Option<Scope>>> = Arc::default();
    let keep = kept.clone();
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let tools = tools("::Draft::consume")
        .provide("late", move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, String>(1_u8) }
        })
        .provide("opening", move |scope: Scope| {
            *keep.lock().unwrap() = Some(scope);
            async { Ok::<_, String>(String::from("Once")) }
        })
        .build()
        .unwrap();
    assert!(tools.call(ToolCall::new("draft.consume", json!({}))).await.success);
    let scope = kept.lock().unwrap().take().unwrap();
    assert_eq!(scope.get::<u8>("late").await.unwrap_err().to_string(), "the call is over");
    assert_eq!(made.load(Ordering::SeqCst), 0);
}
