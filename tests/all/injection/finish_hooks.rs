//! Finish hooks and the end of a scope.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tool_runtime::inject::InjectError;
use tool_runtime::{CancellationToken, ErrorKind, ToolCall};

use super::{Repository, Session, lines, store, tools};

#[tokio::test]
async fn a_provider_runs_once_per_call_and_its_value_is_finished_with_the_outcome() {
    let log = Arc::default();
    let tools = store(&log);

    let result = tools.call(ToolCall::new("store.save", json!({"text": "a"}))).await;
    assert_eq!((result.success, result.output.as_str()), (true, "0"));
    assert_eq!(lines(&log), ["0: begin", "0: new", "0: save a", "0: commit"]);

    let result = tools.call(ToolCall::new("store.fail", json!({}))).await;
    assert_eq!((result.success, result.output.as_str()), (false, "it went wrong"));
    assert_eq!(lines(&log), ["1: begin", "1: new", "1: fail", "1: rollback Failed"]);

    let result = tools.call(ToolCall::new("store.panic", json!({}))).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Panicked);
    assert_eq!(result.output, "`store.panic` panicked, which is a bug in the tool.");
    assert_eq!(lines(&log), ["2: begin", "2: new", "2: panic", "2: rollback Panicked"]);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_and_a_cancellation_roll_back() {
    let log = Arc::default();
    let tools = store(&log);

    let result = tools.call(ToolCall::new("store.hang", json!({}))).timeout(Duration::from_secs(2)).await;
    assert_eq!(result.output, "`store.hang` did not finish within 2s and was stopped.");
    assert_eq!(lines(&log), ["0: begin", "0: new", "0: hang", "0: rollback TimedOut"]);

    let token = CancellationToken::new();
    let call = tools.call(ToolCall::new("store.hang", json!({}))).cancel(token.clone());
    let (result, ()) = tokio::join!(call, async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(result.error.unwrap().kind, ErrorKind::Cancelled);
    assert_eq!(lines(&log), ["1: begin", "1: new", "1: hang", "1: rollback Cancelled"]);
}

#[tokio::test]
async fn a_dropped_call_is_finished_in_the_background() {
    let log = Arc::default();
    let tools = store(&log);
    let call = tools.call(ToolCall::new("store.hang", json!({})));
    assert!(tokio::time::timeout(Duration::from_millis(20), call).await.is_err());
    for _ in 0..100 {
        if log.lock().unwrap().iter().any(|line| line.contains("rollback")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(lines(&log), ["0: begin", "0: new", "0: hang", "0: rollback Cancelled"]);
}

#[tokio::test]
async fn invalid_arguments_open_no_session() {
    let log = Arc::default();
    let tools = store(&log);
    let result = tools.call(ToolCall::new("store.save", json!({"text": 5}))).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::InvalidArguments);
    assert!(lines(&log).is_empty());
}

#[tokio::test]
async fn concurrent_calls_share_no_scope() {
    let log = Arc::default();
    let tools = store(&log);
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let tools = tools.clone();
            tokio::spawn(async move { tools.call(ToolCall::new("store.save", json!({"text": "x"}))).await.output })
        })
        .collect();
    let mut ids = Vec::new();
    for call in calls {
        ids.push(call.await.unwrap().parse::<usize>().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..50).collect::<Vec<_>>());
    assert_eq!(lines(&log).iter().filter(|line| line.ends_with("commit")).count(), 50);
}

#[tokio::test]
async fn a_panicking_finish_hook_fails_the_call_and_the_other_hooks_run() {
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = ends.clone();
    let tools = tools("::Store::save")
        .provide("session", |_| async { Ok::<_, String>(Session { id: 7, log: Arc::default() }) })
        .finish("session", move |session: Session, outcome| {
            log.lock().unwrap().push(format!("{} {outcome:?}", session.id));
            async {}
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("session").await? })
        })
        .finish("repository", |_: Repository, _| async { assert_eq!(1, 2, "in the end") })
        .build()
        .unwrap();
    let result = tools.call(ToolCall::new("store.save", json!({"text": "a"}))).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Finish);
    assert!(!result.output.contains("in the end"), "{}", result.output);
    assert_eq!(lines(&ends), ["7 Failed"], "to an older value, the call has failed");
}

#[tokio::test]
async fn a_value_is_finished_before_the_values_it_depends_on() {
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let (of_session, of_repository) = (ends.clone(), ends.clone());
    let tools = tools("::Store::fail")
        .provide("session", |_| async { Ok::<_, String>(Session { id: 0, log: Arc::default() }) })
        .finish("session", move |_: Session, _| {
            of_session.lock().unwrap().push("session".to_owned());
            async {}
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("session").await? })
        })
        .finish("repository", move |_: Repository, _| {
            of_repository.lock().unwrap().push("repository".to_owned());
            async {}
        })
        .build()
        .unwrap();
    tools.call(ToolCall::new("store.fail", json!({}))).await;
    assert_eq!(lines(&ends), ["repository", "session"]);
}

#[test]
fn a_runtime_without_a_timer_does_not_panic() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let log = Arc::default();
    let tools = store(&log);
    let token = CancellationToken::new();
    let result = runtime.block_on(async {
        let call = tools.call(ToolCall::new("store.hang", json!({}))).cancel(token.clone());
        tokio::join!(call, async { token.cancel() }).0
    });
    assert_eq!(result.error.unwrap().kind, ErrorKind::Cancelled);
    let call = tools.call(ToolCall::new("store.hang", json!({}))).timeout(Duration::from_millis(1));
    assert_eq!(runtime.block_on(call).error.unwrap().kind, ErrorKind::NoRuntime);
}
