//! The journal prevents a recorded call from running twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tool_runtime::confirm::{self, Decision};
use tool_runtime::journal::{EntryQuery, EntryState, Journal, JournalDecision, MemoryJournal};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, Manifest, RuntimeTool, ToolCall};

use super::{Log, always, builder, erased, kind};

#[tokio::test]
async fn a_recorded_call_does_not_run_again() {
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
    let entries = journal.entries(EntryQuery::newest(10)).await.unwrap();
    assert!(matches!(entries[0].state, EntryState::Finished(_)));
    assert_eq!(entries[0].decision, Some(JournalDecision::Confirmed));
    assert!(!format!("{entries:?}").contains("hush"));
}

/// A replay only reads the journal: nothing runs, and the call can still be made.
#[tokio::test]
async fn a_replay_runs_nothing() {
    let tools = builder().journal(MemoryJournal::new()).confirm(always(Decision::Run)).build().unwrap();
    let call = || ToolCall::new("pipeline.erase", json!({"host": "replayed"})).id("1").conversation("c");
    assert_eq!(kind(&tools.call(call()).replay().await), ErrorKind::OutcomeUnknown);
    assert_eq!(erased("replayed"), 0);
    assert!(tools.call(call()).await.success);
    let replayed = tools.call(call()).replay().await;
    assert_eq!((&*replayed.output, replayed.metadata.get("replayed")), ("erased replayed", Some(&json!(true))));
    let without = builder().confirm(always(Decision::Run)).build().unwrap();
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
async fn a_dropped_call_is_recorded() {
    let journal = Arc::new(MemoryJournal::new());
    let tools = builder().journal(journal.clone()).build().unwrap();
    let call = ToolCall::new("pipeline.listen", json!({})).id("1").conversation("c");
    let log = Log::default();
    drop(tokio::time::timeout(Duration::from_millis(30), tools.call(call)).await);
    drop(log);
    for _ in 0..100 {
        let entries = journal.entries(EntryQuery::newest(10)).await.unwrap();
        if let EntryState::Finished(finished) = &entries[0].state {
            assert_eq!(kind(&finished.result), ErrorKind::Cancelled);
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the end of the call was not recorded");
}

#[tokio::test]
async fn a_repeated_call_that_was_edited_is_recognized() {
    let confirm = always(Decision::Edit(json!({"host": "edited once"})));
    let tools = builder().journal(MemoryJournal::new()).confirm(confirm).build().unwrap();
    let call = || ToolCall::new("pipeline.erase", json!({"host": "original"})).id("1").conversation("c");
    assert_eq!(tools.call(call()).await.output, "erased edited once");
    assert_eq!(tools.call(call()).await.metadata.get("replayed"), Some(&json!(true)));
    assert_eq!(erased("edited once"), 1);
}

/// The newest entries for calls that did not run.
async fn decisions(journal: &MemoryJournal) -> Vec<String> {
    let entries = journal.entries(EntryQuery::newest(10)).await.unwrap();
    assert!(entries.iter().all(|entry| entry.state == EntryState::Noted), "{entries:?}");
    entries.into_iter().filter_map(|entry| Some(entry.decision?.to_string())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_cancelled_while_the_user_decides_is_recorded() {
    let journal = Arc::new(MemoryJournal::new());
    let never = confirm::from_fn(|_| std::future::pending());
    let tools = builder().journal(journal.clone()).confirm(never).build().unwrap();
    let call = |id: &'static str| {
        tools.call(
            ToolCall::new("pipeline.erase", json!({"host": "asked", "password": "hush"})).id(id).conversation("c"),
        )
    };
    let stop = CancellationToken::new();
    let (result, ()) = tokio::join!(call("1").cancel(stop.clone()), async {
        tokio::task::yield_now().await;
        stop.cancel();
    });
    assert_eq!(kind(&result), ErrorKind::Cancelled);
    assert_eq!(decisions(&journal).await, ["cancelled"], "before the caller hears of it");
    // Dropped, as by a timeout around it.
    assert!(tokio::time::timeout(Duration::from_secs(1), call("2")).await.is_err());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(decisions(&journal).await, ["cancelled", "cancelled"]);
    let entry = journal.entries(EntryQuery::newest(1)).await.unwrap().remove(0);
    assert_eq!((entry.id.as_deref(), entry.arguments), (Some("2"), json!({"host": "asked", "password": "***"})));
    assert_eq!(erased("asked"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_cancelled_in_the_queue_is_recorded() {
    let journal = Arc::new(MemoryJournal::new());
    let tools = builder().journal(journal.clone()).concurrency(1, 10).confirm(always(Decision::Run)).build().unwrap();
    let running = tools.call(ToolCall::new("pipeline.listen", json!({}))).timeout(Duration::from_secs(60));
    let queued = async {
        tokio::task::yield_now().await;
        let erase = ToolCall::new("pipeline.erase", json!({"host": "queued"})).id("1").conversation("c");
        let result = tools.call(erase).timeout(Duration::from_secs(1)).await;
        let entries = journal.entries(EntryQuery::newest(10).tool("pipeline.erase")).await.unwrap();
        (
            result,
            entries
                .into_iter()
                .map(|entry| (entry.decision.map(|decision| decision.to_string()), entry.state))
                .collect::<Vec<_>>(),
        )
    };
    let (_, (result, noted)) = tokio::join!(running, queued);
    assert_eq!((kind(&result), result.is_not_started()), (ErrorKind::TimedOut, true));
    assert_eq!(noted, [(Some("timed out".to_owned()), EntryState::Noted)]);
    assert_eq!(erased("queued"), 0);
}

/// A crash may be followed by a deployment that changes a default.
#[tokio::test]
async fn a_call_is_identified_by_the_arguments_as_sent() {
    let (journal, ran) = (Arc::new(MemoryJournal::new()), Arc::new(AtomicUsize::new(0)));
    let tools = |default: u32| {
        let ran = ran.clone();
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer", "default": default}, "m": {"type": "integer"},
        }});
        let tool = RuntimeTool::from_schema("t", "", &schema, move |arguments, _| {
            ran.fetch_add(1, Ordering::SeqCst);
            async move { serde_json::Value::from(arguments).to_string() }
        });
        Dispatcher::builder().manifest(Manifest::default()).tool(tool).journal(journal.clone()).build().unwrap()
    };
    let call = |arguments: &'static str| ToolCall::from_text("t", arguments).conversation("c").id("1");
    let first = tools(1).call(call(r#"{"m": 5}"#)).await;
    assert_eq!(first.output, r#"{"m":5,"n":1}"#);
    let after = tools(2);
    // Repaired or not, it is the same call.
    for sent in [r#"{"m": 5}"#, r#"{"m": "5"}"#] {
        let again = after.call(call(sent)).await;
        assert_eq!((again.output, again.metadata.get("replayed")), (first.output.clone(), Some(&json!(true))));
    }
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert_eq!(after.call(call(r#"{"m": 6}"#)).await.output, r#"{"m":6,"n":2}"#, "the control: another call");
}
