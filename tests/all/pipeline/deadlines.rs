//! Deadlines, which cover everything except the time that a user takes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tool_runtime::confirm::{self, Decision};
use tool_runtime::journal::{
    BoxFuture, CallKey, CallStatus, EntryQuery, EntryState, FinishedCall, Journal, JournalDecision, JournalEntry,
    JournalError, MemoryJournal, StartedCall,
};
use tool_runtime::{CancellationToken, ErrorKind, ToolCall};

use super::{builder, kind};

const SECOND: Duration = Duration::from_secs(1);

/// A slow journal.
#[derive(Clone)]
struct SlowJournal {
    begin: Duration,
    finish: Duration,
    memory: Arc<MemoryJournal>,
    finished: Arc<Mutex<Vec<ErrorKind>>>,
}

impl SlowJournal {
    fn new(begin: u64, finish: u64) -> Self {
        let [begin, finish] = [begin, finish].map(Duration::from_secs);
        Self { begin, finish, memory: Arc::new(MemoryJournal::new()), finished: Arc::default() }
    }
}

impl Journal for SlowJournal {
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        Box::pin(async move {
            tokio::time::sleep(self.begin).await;
            self.memory.begin(call).await
        })
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            tokio::time::sleep(self.finish).await;
            self.finished.lock().unwrap().extend(finished.result.error.as_ref().map(|error| error.kind));
            self.memory.finish(key, finished).await
        })
    }

    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        self.memory.note(call, decision)
    }

    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        self.memory.entries(query)
    }
}

fn count() -> ToolCall<'static> {
    ToolCall::new("pipeline.count", json!({"by": 1})).id("1").conversation("c")
}

/// Time is paused in these tests and advances only through sleeps.
#[tokio::test(start_paused = true)]
async fn a_deadline_covers_the_journal_entry_before_the_handler() {
    let journal = SlowJournal::new(60, 0);
    let tools = builder().journal(journal.clone()).build().unwrap();
    let result = tools.call(count()).timeout(SECOND).await;
    assert_eq!(kind(&result), ErrorKind::TimedOut);
    assert_eq!(tools.call(count().id("2")).timeout(SECOND * 61).await.output, "1", "the first call has not run");
    // The entry made in the background says that the call did not run.
    assert_eq!(*journal.finished.lock().unwrap(), [ErrorKind::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_covers_the_queue() {
    let tools = builder().concurrency(1, 1).build().unwrap();
    let running = tools.call(ToolCall::new("pipeline.listen", json!({}))).timeout(SECOND * 60);
    let (running, waiting) = tokio::join!(running, async {
        tokio::task::yield_now().await;
        tools.call(count()).timeout(SECOND).await
    });
    assert_eq!((kind(&running), kind(&waiting)), (ErrorKind::TimedOut, ErrorKind::TimedOut));
    assert_eq!(tools.call(count()).await.output, "1");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_user_does_not_count() {
    let confirm = confirm::from_fn(|_| async {
        tokio::time::sleep(SECOND * 3_600).await;
        Decision::Run
    });
    let tools = builder().confirm(confirm).build().unwrap();
    let call = ToolCall::new("pipeline.erase", json!({"host": "after an hour"}));
    assert_eq!(tools.call(call).timeout(SECOND).await.output, "erased after an hour");
}

#[tokio::test(start_paused = true)]
async fn the_handler_gets_the_remaining_time() {
    let tools = builder().journal(SlowJournal::new(7, 0)).build().unwrap();
    let call = ToolCall::new("pipeline.facts", json!({}));
    let result = tools.call(call).timeout(SECOND * 10).await;
    assert!(result.output.ends_with("false"), "less than three seconds are left: {}", result.output);
}

#[tokio::test(start_paused = true)]
async fn recording_the_outcome_does_not_block_the_caller_forever() {
    let journal = SlowJournal::new(0, 3_600);
    let tools = builder().journal(journal.clone()).build().unwrap();
    let before = tokio::time::Instant::now();
    let result = tools.call(count()).await;
    assert_eq!((result.output.as_str(), result.metadata.get("recorded")), ("1", Some(&json!(false))));
    assert!(before.elapsed() < SECOND * 60);
    // Nor does it block a cancelled call.
    let token = CancellationToken::new();
    let (result, ()) = tokio::join!(tools.call(count().id("2")).cancel(token.clone()), async {
        tokio::time::sleep(SECOND).await;
        token.cancel();
    });
    assert_eq!(result.output, "2", "the effect of the handler remains");
    tokio::time::sleep(SECOND * 7_200).await;
    let entries = journal.entries(EntryQuery::newest(2)).await.unwrap();
    assert!(entries.iter().all(|entry| matches!(entry.state, EntryState::Finished(_))), "{entries:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_being_recorded_keeps_its_outcome() {
    let journal = SlowJournal::new(0, 60);
    let tools = builder().journal(journal.clone()).build().unwrap();
    assert!(tokio::time::timeout(SECOND, tools.call(count())).await.is_err());
    tokio::time::sleep(SECOND * 120).await;
    let entries = journal.entries(EntryQuery::newest(1)).await.unwrap();
    assert!(
        matches!(&entries[0].state, EntryState::Finished(finished) if finished.result.output == "1"),
        "{entries:?}"
    );
}
