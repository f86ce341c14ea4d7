//! What is on record is not done twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tool_runtime::confirm::{self, Decision};
use tool_runtime::journal::{Journal, MemoryJournal, Query, State};
use tool_runtime::{ErrorKind, ToolCall};

use super::{Log, answering, builder, erased, kind};

#[tokio::test]
async fn a_call_on_record_does_not_run_again() {
    let journal = Arc::new(MemoryJournal::new());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let confirm = confirm::from_fn(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Decision::Run }
    });
    let tools = builder().journal(journal.clone()).confirm(confirm).build().unwrap();
    let call =
        || ToolCall::new("pipeline.erase", json!({"host": "once", "password": "hush"})).id("1").conversation("c");
    let first = tools.call(call()).await;
    let again = tools.call(call()).await;
    assert_eq!((first.output.as_str(), again.output.as_str()), ("erased once", "erased once"));
    assert_eq!(again.metadata.get("replayed"), Some(&json!(true)));
    assert_eq!((erased("once"), asked.load(Ordering::SeqCst)), (1, 1));
    let entries = journal.entries(Query::newest(10)).await.unwrap();
    assert!(matches!(entries[0].state, State::Finished(_)));
    assert_eq!(entries[0].decision.as_deref(), Some("confirmed"));
    assert!(!format!("{entries:?}").contains("hush"));
}

/// A replay asks the record alone: nothing runs, and the call can be made after it.
#[tokio::test]
async fn a_replay_runs_nothing() {
    let tools = builder().journal(MemoryJournal::new()).confirm(answering(Decision::Run)).build().unwrap();
    let call = || ToolCall::new("pipeline.erase", json!({"host": "replayed"})).id("1").conversation("c");
    assert_eq!(kind(&tools.call(call()).replay().await), ErrorKind::OutcomeUnknown);
    assert_eq!(erased("replayed"), 0);
    assert!(tools.call(call()).await.success);
    let replayed = tools.call(call()).replay().await;
    assert_eq!((&*replayed.output, replayed.metadata.get("replayed")), ("erased replayed", Some(&json!(true))));
    let without = builder().confirm(answering(Decision::Run)).build().unwrap();
    assert_eq!(kind(&without.call(call()).replay().await), ErrorKind::OutcomeUnknown);
    assert_eq!(erased("replayed"), 1);

    let listen = || tools.call(ToolCall::new("pipeline.listen", json!({})).id("2").conversation("c"));
    let is_busy = async {
        while kind(&listen().replay().await) != ErrorKind::Busy {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        result = listen() => panic!("{result:?}"),
        () = is_busy => {}
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_recorded_too() {
    let journal = Arc::new(MemoryJournal::new());
    let tools = builder().journal(journal.clone()).build().unwrap();
    let call = ToolCall::new("pipeline.listen", json!({})).id("1").conversation("c");
    let log = Log::default();
    drop(tokio::time::timeout(Duration::from_millis(30), tools.call(call)).await);
    drop(log);
    for _ in 0..100 {
        let entries = journal.entries(Query::newest(10)).await.unwrap();
        if let State::Finished(finished) = &entries[0].state {
            assert_eq!(kind(&finished.result), ErrorKind::Cancelled);
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("its end is not on record");
}

#[tokio::test]
async fn an_edited_call_that_comes_again_is_known() {
    let confirm = answering(Decision::Edit(json!({"host": "edited once"})));
    let tools = builder().journal(MemoryJournal::new()).confirm(confirm).build().unwrap();
    let call = || ToolCall::new("pipeline.erase", json!({"host": "original"})).id("1").conversation("c");
    assert_eq!(tools.call(call()).await.output, "erased edited once");
    assert_eq!(tools.call(call()).await.metadata.get("replayed"), Some(&json!(true)));
    assert_eq!(erased("edited once"), 1);
}
