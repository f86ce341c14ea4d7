//! Blocking handlers, which cannot be stopped.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tool_runtime::{ErrorKind, ToolCall};

use super::{Gate, gated, lines};

#[tokio::test]
async fn a_blocking_handler_past_its_deadline_keeps_its_scope_until_it_ends() {
    let (log, gate) = (Arc::default(), Gate::default());
    let tools = gated(&log, &gate);
    let block = || tools.call(ToolCall::new("store.block", json!({})));
    let closed = gate.lock().await;
    // Long enough for the handler to start.
    let result = block().timeout(Duration::from_secs(1)).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::OutcomeUnknown);
    assert!(result.output.contains("may still take effect"), "{}", result.output);
    assert_eq!(lines(&log), ["0: begin", "0: new"]);
    drop(closed);
    let finished = async {
        while log.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), finished).await.expect("the scope is finished");
    assert_eq!(lines(&log), ["0: unblocked", "0: rollback TimedOut"]);

    assert_eq!(block().await.output, "done");
    assert_eq!(lines(&log), ["1: begin", "1: new", "1: unblocked", "1: commit"]);
}

#[test]
fn a_blocking_handler_still_queued_at_its_deadline_never_runs() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().max_blocking_threads(1).build().unwrap();
    let (log, gate) = (Arc::default(), Gate::default());
    let tools = gated(&log, &gate);
    let block = || tools.call(ToolCall::new("store.block", json!({})));
    runtime.block_on(async {
        let closed = gate.lock().await;
        // The thread becomes free only after the second call timed out: timers keep their order.
        let open = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            tokio::task::yield_now().await;
            drop(closed);
        };
        let (first, second, ()) = tokio::join!(block(), block().timeout(Duration::from_millis(50)), open);
        assert_eq!(first.output, "done");
        assert_eq!(second.error.unwrap().kind, ErrorKind::TimedOut);
        // By now the thread has processed its whole queue.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    });
    let lines = lines(&log);
    assert_eq!(lines.iter().filter(|line| line.ends_with("unblocked")).count(), 1, "{lines:?}");
    assert!(lines.contains(&"1: rollback TimedOut".to_owned()), "{lines:?}");
}
