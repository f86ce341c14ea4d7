//! Whoever watches: events, counters.

use serde_json::json;
use tool_runtime::{Policy, Progress, ToolCall, Update, What, tool};

use super::builder;

/// Report and answer.
#[tool(name = "pipeline.report")]
async fn report(#[inject] progress: &Progress) -> &'static str {
    progress.report(json!({"done": 1}));
    "done"
}

#[tokio::test]
async fn whoever_watches_sees_it_all() {
    let tools = builder().policy(Policy::Yolo).build().unwrap();
    let mut events = tools.events().subscribe();
    tools.call(ToolCall::new("pipeline.report", json!({})).id("7")).await;
    tools.call(ToolCall::new("pipeline.erase", json!({"host": "watched", "password": "hush"}))).await;
    let mut seen = Vec::new();
    while let Some(Update::Event(event)) = events.try_next() {
        let name = match &event.what {
            What::Started { arguments } => format!("started {arguments}"),
            What::Progress { progress } => format!("progress {progress}"),
            What::Finished { success, .. } => format!("finished {success}"),
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
        ]
    );
}
