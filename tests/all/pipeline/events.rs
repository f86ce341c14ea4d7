//! Events and metrics.

use std::time::Duration;

use serde_json::json;
use tool_runtime::confirm::{Decision, PendingApproval};
use tool_runtime::events::{EventKind, Subscriber, Update};
use tool_runtime::{CancellationToken, Dispatcher, Policy, Progress, RuntimeTool, ToolCall, tool};

use super::{always, builder};

/// Report and answer.
#[tool(name = "pipeline.report")]
async fn report(#[inject] progress: &Progress) -> &'static str {
    progress.report(json!({"done": 1}));
    "done"
}

#[tokio::test]
async fn a_subscriber_sees_every_event() {
    let tools = builder().policy(Policy::Yolo).build().unwrap();
    let mut events = tools.events().subscribe();
    tools.call(ToolCall::new("pipeline.report", json!({})).id("7")).await;
    tools.call(ToolCall::new("pipeline.erase", json!({"host": "watched", "password": "hush"}))).await;
    let mut seen = Vec::new();
    while let Some(Update::Event(event)) = events.try_next() {
        let name = match &event.kind {
            EventKind::Started { arguments } => format!("started {arguments}"),
            EventKind::Progress { progress } => format!("progress {progress}"),
            EventKind::Finished { success, .. } => format!("finished {success}"),
            other => format!("{other:?}"),
        };
        seen.push(format!("{} {name}", event.call.tool));
    }
    assert_eq!(
        seen,
        [
            "pipeline.report started {}",
            r#"pipeline.report progress {"done":1}"#,
            "pipeline.report finished true",
            r#"pipeline.erase started {"host":"watched","password":"***"}"#,
            "pipeline.erase finished true",
        ]
    );
}

#[test]
fn calls_are_counted_and_timed() {
    let recorder = metrics_util::debugging::DebuggingRecorder::new();
    let collected = recorder.snapshotter();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let tools = builder().build().unwrap();
            for name in ["pipeline.count", "pipeline.count", "pipeline.erase", "made.up"] {
                tools.call(ToolCall::new(name, json!({"by": 1, "host": "h"}))).await;
            }
            let waits = RuntimeTool::new("waits", "Never answers.", |(): ()| std::future::pending::<()>());
            tools.registry().register(waits).unwrap();
            let given_up = tokio::time::timeout(Duration::ZERO, tools.call(ToolCall::new("waits", json!({}))));
            given_up.await.unwrap_err();
        });
    });
    let mut seen: Vec<String> = Vec::new();
    for (key, _, _, value) in collected.snapshot().into_vec() {
        let labels: Vec<String> = key.key().labels().map(|l| format!("{}={}", l.key(), l.value())).collect();
        if let metrics_util::debugging::DebugValue::Counter(count) = value {
            seen.push(format!("{} {} {count}", key.key().name(), labels.join(" ")));
        }
    }
    seen.sort();
    assert_eq!(
        seen,
        [
            "tool_calls_total tool=pipeline.count outcome=invalid_arguments 2",
            "tool_calls_total tool=pipeline.erase outcome=invalid_arguments 1",
            "tool_calls_total tool=unknown outcome=unknown_tool 1",
            "tool_calls_total tool=waits outcome=cancelled 1",
        ]
    );
}

/// The events, as one word each.
fn event_names(events: &mut Subscriber) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some(Update::Event(event)) = events.try_next() {
        seen.push(match &event.kind {
            EventKind::Started { .. } => "started".to_owned(),
            EventKind::Progress { .. } => "progress".to_owned(),
            EventKind::Pending { .. } => "pending".to_owned(),
            EventKind::Finished { kind, .. } => kind.map_or("success", |kind| kind.as_str()).to_owned(),
            other => format!("{other:?}"),
        });
    }
    seen
}

#[tokio::test]
async fn every_call_starts_once_and_ends_once() {
    let far = std::time::SystemTime::now() + Duration::from_secs(60);
    let pending = always(Decision::Pending(PendingApproval::new("t-1", far)));
    let tools = builder().confirm(pending).max_argument_bytes(1_000).build().unwrap();
    let mut events = tools.events().subscribe();
    let listen = || ToolCall::new("pipeline.listen", json!({}));
    for (call, end) in [
        (ToolCall::new("made.up", json!({})), "unknown_tool"),
        (ToolCall::new("pipeline.count", json!({"by": "x".repeat(2_000)})), "invalid_arguments"),
        (ToolCall::new("pipeline.count", json!({"by": "x"})), "invalid_arguments"),
        (ToolCall::from_text("pipeline.count", "{"), "invalid_arguments"),
        (ToolCall::new("pipeline.erase", json!({"host": "told"})), "pending"),
        (ToolCall::new("pipeline.count", json!({"by": 1})), "success"),
    ] {
        let shown = format!("{call:?}");
        tools.call(call).await;
        assert_eq!(event_names(&mut events), ["started", end], "{shown}");
    }
    tools.call(listen()).timeout(Duration::from_millis(1)).await;
    assert_eq!(event_names(&mut events), ["started", "timed_out"]);
    let token = CancellationToken::new();
    token.cancel();
    tools.call(listen()).cancel(token).await;
    assert_eq!(event_names(&mut events), ["started", "cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_also_has_an_end_event() {
    let second = Duration::from_secs(1);
    let never = tool_runtime::confirm::from_fn(|_| std::future::pending());
    let tools = builder().confirm(never).build().unwrap();
    let mut events = tools.events().subscribe();
    for call in [ToolCall::new("pipeline.listen", json!({})), ToolCall::new("pipeline.erase", json!({"host": "drop"}))]
    {
        assert!(tokio::time::timeout(second, tools.call(call)).await.is_err());
        tokio::time::sleep(second).await;
        assert_eq!(event_names(&mut events), ["started", "cancelled"]);
    }
    let token = CancellationToken::new();
    let asked = tools.call(ToolCall::new("pipeline.erase", json!({"host": "drop"}))).cancel(token.clone());
    tokio::join!(asked, async { token.cancel() });
    assert_eq!(event_names(&mut events), ["started", "cancelled"]);
}

#[test]
fn a_call_without_a_runtime_also_sends_events() {
    let tools = builder().build().unwrap();
    let mut events = tools.events().subscribe();
    let mut call = std::pin::pin!(tools.call(ToolCall::new("pipeline.long", json!({"lines": 1}))));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_ready());
    assert_eq!(event_names(&mut events), ["started", "success"]);
}

/// Both the listener of the call and the subscribers receive progress.
#[tokio::test]
async fn progress_reaches_every_listener() {
    let tools: Dispatcher = builder().build().unwrap();
    let mut events = tools.events().subscribe();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let listener = heard.clone();
    let progress = Progress::to(move |report| listener.lock().unwrap().push(report));
    tools.call(ToolCall::new("pipeline.report", json!({}))).with(progress).await;
    assert_eq!(*heard.lock().unwrap(), [json!({"done": 1})]);
    assert_eq!(event_names(&mut events), ["started", "progress", "success"]);
}
