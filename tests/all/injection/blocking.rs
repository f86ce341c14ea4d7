//! Handlers that cannot be stopped.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tool_runtime::{ErrorKind, ToolCall};

use super::{lines, store};

#[tokio::test]
async fn a_blocking_handler_past_its_deadline_keeps_its_scope_until_it_ends() {
    let log = Arc::default();
    let tools = store(&log);
    let call = ToolCall::new("store.block", json!({"milliseconds": 300}));
    let result = tools.call(call).timeout(Duration::from_millis(30)).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::OutcomeUnknown);
    assert!(result.output.contains("may still take effect"), "{}", result.output);
    assert_eq!(lines(&log), ["0: begin", "0: new"]);
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(lines(&log), ["0: unblocked", "0: rollback TimedOut"]);

    let result = tools.call(ToolCall::new("store.block", json!({"milliseconds": 1}))).await;
    assert_eq!(result.output, "done");
    assert_eq!(lines(&log), ["1: begin", "1: new", "1: unblocked", "1: commit"]);
}

#[test]
fn a_blocking_handler_that_still_waits_for_a_thread_is_not_run_after_its_call() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().max_blocking_threads(1).build().unwrap();
    let log = Arc::default();
    let tools = store(&log);
    runtime.block_on(async {
        let first = ToolCall::new("store.block", json!({"milliseconds": 200}));
        let second =
            tools.call(ToolCall::new("store.block", json!({"milliseconds": 0}))).timeout(Duration::from_millis(50));
        let (first, second) = tokio::join!(tools.call(first), second);
        assert_eq!(first.output, "done");
        assert_eq!(second.error.unwrap().kind, ErrorKind::TimedOut);
    });
    let lines = lines(&log);
    assert_eq!(lines.iter().filter(|line| line.ends_with("unblocked")).count(), 1, "{lines:?}");
    assert!(lines.contains(&"1: rollback TimedOut".to_owned()), "{lines:?}");
}
