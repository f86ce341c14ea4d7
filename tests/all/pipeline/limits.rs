//! Rate limits, concurrency limits and retry limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tool_runtime::confirm::{self, Confirm, Decision};
use tool_runtime::events::{EventKind, Update};
use tool_runtime::inject::Notes;
use tool_runtime::journal::{EntryQuery, EntryState, Journal, JournalDecision, MemoryJournal};
use tool_runtime::limits::{Limit, Limiter};
use tool_runtime::{Dispatcher, ErrorKind, HandlerError, Manifest, RuntimeTool, ToolCall, tool};

use super::{builder, erase_on, erased, kind};

/// Be stuck on a thread.
#[tool(name = "pipeline.stuck", blocking)]
fn stuck() {
    std::thread::sleep(Duration::from_millis(300));
}

/// Never be content.
#[tool(name = "pipeline.again")]
async fn again(host: String) -> Result<String, HandlerError> {
    if host == "one" { Ok(host) } else { Err(HandlerError::retry("Name one host.")) }
}

#[tokio::test]
async fn limits_are_enforced() {
    let tools = builder().limit(Limiter::new().tool("pipeline.count", Limit::total(2))).build().unwrap();
    let count = async || tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).await;
    assert!(count().await.success && count().await.success);
    assert_eq!(kind(&count().await), ErrorKind::RateLimited);
}

/// A thread that cannot be stopped keeps its permit until it ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocking_handler_holds_its_permit_beyond_its_deadline() {
    let tools = builder().concurrency(1, 0).build().unwrap();
    let stuck = tools.call(ToolCall::new("pipeline.stuck", json!({}))).timeout(Duration::from_millis(30)).await;
    assert_eq!(kind(&stuck), ErrorKind::OutcomeUnknown);
    let count = async || tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).await;
    assert_eq!(kind(&count().await), ErrorKind::Busy);
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        if count().await.success {
            return;
        }
    }
    panic!("the permit was never released");
}

#[tokio::test]
async fn retries_are_limited() {
    let tools = builder().retries(2).build().unwrap();
    let again = async |host: &str| {
        let call = ToolCall::new("pipeline.again", json!({"host": host})).conversation("c");
        tools.call(call).await.error.map(|error| error.kind)
    };
    assert_eq!(again("a").await, Some(ErrorKind::Retry));
    assert_eq!(again("b").await, Some(ErrorKind::Retry));
    assert_eq!(again("c").await, Some(ErrorKind::Fatal));
    assert_eq!(again("one").await, None);
    assert_eq!(again("a").await, Some(ErrorKind::Retry));
}

#[tokio::test]
async fn calls_that_do_not_run_do_not_count() {
    let tools = builder().limit(Limiter::new().tool("pipeline.count", Limit::total(1))).build().unwrap();
    let count = || tools.call(ToolCall::new("pipeline.count", json!({"by": 1})));
    assert!(count().dry_run().await.success);
    assert!(!tools.call(ToolCall::new("pipeline.count", json!({"by": "x"}))).await.success);
    assert!(count().await.success);
    assert_eq!(kind(&count().await), ErrorKind::RateLimited);
}

/// A dry run is neither an attempt nor a success.
#[tokio::test]
async fn a_dry_run_is_not_an_attempt() {
    let tools = builder().retries(1).build().unwrap();
    let again = || tools.call(ToolCall::new("pipeline.again", json!({"host": "a"})).conversation("c"));
    assert_eq!(kind(&again().await), ErrorKind::Retry);
    for _ in 0..3 {
        assert!(again().dry_run().await.success);
    }
    assert_eq!(kind(&again().await), ErrorKind::Fatal);
}

/// The caller, the journal, a replay, a recall, events and counters agree on the last attempt.
#[test]
fn every_observer_sees_the_same_last_attempt() {
    let recorder = metrics_util::debugging::DebuggingRecorder::new();
    let collected = recorder.snapshotter();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let journal = Arc::new(MemoryJournal::new());
            let tools = builder().retries(0).journal(journal.clone()).build().unwrap();
            let mut events = tools.events().subscribe();
            let again = || tools.call(ToolCall::new("pipeline.again", json!({"host": "a"})).conversation("c").id("1"));
            let (first, replayed) = (again().await, again().await);
            assert_eq!((kind(&first), kind(&replayed)), (ErrorKind::Fatal, ErrorKind::Fatal));
            assert!(first.output.starts_with("Name one host. That was the last try"), "{}", first.output);
            assert_eq!(replayed.output, first.output);
            assert_eq!(replayed.metadata.get("replayed"), Some(&json!(true)));
            let recorded = journal.entries(EntryQuery::newest(1)).await.unwrap().remove(0).state;
            for state in [tools.recall("c", "1").await.unwrap(), Some(recorded)] {
                let Some(EntryState::Finished(finished)) = state else { panic!("{state:?}") };
                assert_eq!((kind(&finished.result), &finished.result.output), (ErrorKind::Fatal, &first.output));
            }
            let mut kinds = Vec::new();
            while let Some(Update::Event(event)) = events.try_next() {
                if let EventKind::Finished { kind, .. } = event.kind {
                    kinds.push(kind);
                }
            }
            assert_eq!(kinds, [Some(ErrorKind::Fatal); 2]);
        });
    });
    let counted = collected.snapshot().into_vec().into_iter().filter_map(|(key, _, _, value)| match value {
        metrics_util::debugging::DebugValue::Counter(count) => {
            Some((key.key().labels().find(|label| label.key() == "outcome")?.value().to_owned(), count))
        }
        _ => None,
    });
    assert_eq!(counted.collect::<Vec<_>>(), [("fatal".to_owned(), 2)]);
}

/// A replay is not an attempt; metadata set by a handler does not change that.
#[tokio::test]
async fn only_a_replay_by_the_dispatcher_is_not_an_attempt() {
    let again = RuntimeTool::new("again", "", |(): ()| async { Err::<String, _>(HandlerError::retry("Again.")) });
    let inner = Dispatcher::builder().manifest(Manifest::default()).tool(again).journal(MemoryJournal::new());
    let inner = inner.build().unwrap();
    let passes_on = RuntimeTool::new("passes_on", "", move |(): ()| {
        let inner = inner.clone();
        async move { inner.call(ToolCall::from_text("again", "{}").conversation("inner").id("1")).await }
    });
    let says_so = RuntimeTool::scoped("says_so", "", |(): (), scope: tool_runtime::Scope| async move {
        scope.value::<Notes>().await.unwrap().insert("replayed", true);
        Err::<String, _>(HandlerError::retry("Again."))
    });
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(passes_on).tool(says_so);
    let tools = tools.retries(1).journal(MemoryJournal::new()).build().unwrap();
    for tool in ["passes_on", "says_so"] {
        let call = |id: &'static str| tools.call(ToolCall::from_text(tool, "{}").conversation("c").id(id));
        for _ in 0..5 {
            assert_eq!(kind(&call("1").await), ErrorKind::Retry, "replays of the first try");
        }
        assert_eq!(kind(&call("2").await), ErrorKind::Fatal, "{tool}: the second try");
    }
}

/// Approves everything and counts the questions. Decides once it is allowed to.
fn counting(asked: &Arc<AtomicUsize>) -> impl Confirm + use<> {
    let asked = asked.clone();
    confirm::from_fn(move |_| {
        asked.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Decision::Run
        }
    })
}

#[tokio::test(start_paused = true)]
async fn no_question_is_asked_about_a_call_over_its_limit() {
    let (asked, journal) = (Arc::new(AtomicUsize::new(0)), Arc::new(MemoryJournal::new()));
    let limiter = Limiter::new().tool("pipeline.erase", Limit::per_minute(1));
    let tools = builder().limit(limiter).confirm(counting(&asked)).journal(journal.clone()).build().unwrap();
    assert!(erase_on(&tools, "asked once").await.success);
    for _ in 0..10 {
        let refused = erase_on(&tools, "asked once").await;
        assert_eq!((kind(&refused), refused.is_not_started()), (ErrorKind::RateLimited, true));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let entries = journal.entries(EntryQuery::newest(10)).await.unwrap();
    assert!(entries.iter().all(|entry| entry.decision == Some(JournalDecision::RateLimited)), "{entries:?}");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(erase_on(&tools, "asked once").await.success, "the control");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

/// All calls of a turn arrive before any decision is made.
#[tokio::test(start_paused = true)]
async fn a_turn_asks_about_no_more_calls_than_can_run() {
    let asked = Arc::new(AtomicUsize::new(0));
    let limiter = Limiter::new().tool_in_conversation("pipeline.erase", Limit::total(2));
    let tools = builder().limit(limiter).confirm(counting(&asked)).build().unwrap();
    let erase = || ToolCall::new("pipeline.erase", json!({"host": "asked in a turn"})).conversation("c");
    let results = tools.call_all((0..5).map(|_| erase())).await;
    assert_eq!(results.iter().filter(|result| result.success).count(), 2);
    for result in results.iter().filter(|result| !result.success) {
        assert_eq!(kind(result), ErrorKind::RateLimited);
        assert!(result.error.as_ref().unwrap().retry_after().is_some(), "the pending questions may be refused");
    }
    assert_eq!((asked.load(Ordering::SeqCst), erased("asked in a turn")), (2, 2));
    assert_eq!(tools.call(erase()).await.error.unwrap().retry_after(), None, "now it is over for good");
}
