//! A conformance test for implementations of [`Journal`] (feature `testing`).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tool_model::{Argument, ToolDefinition};

use super::{
    CallStatus, EntryQuery, EntryState, FinishedCall, Journal, JournalDecision, JournalEntry, JournalErrorKind,
    StartedCall,
};
use crate::{ErrorKind, ToolCall, ToolError, ToolResult};

/// Tests a journal against the contract of [`Journal`]. `make` creates an empty journal for each test.
///
/// Properties of particular journals are not tested, such as persistence and the removal of old entries.
///
/// ```
/// use tool_runtime::journal::{MemoryJournal, testing};
///
/// # #[tokio::main]
/// # async fn main() {
/// testing::check(async || MemoryJournal::new()).await;
/// # }
/// ```
///
/// # Panics
/// If the journal breaks the contract.
pub async fn check<J: Journal>(make: impl AsyncFn() -> J) {
    let journal = async || Arc::new(make().await) as Arc<dyn Journal>;
    a_completed_call_has_its_result(&*journal().await).await;
    a_failure_is_a_result_too(&*journal().await).await;
    a_call_that_did_not_start_can_begin_again(&*journal().await).await;
    another_conversation_id_tool_or_argument_is_another_call(&*journal().await).await;
    a_call_without_an_id_is_another_each_time(&*journal().await).await;
    a_call_is_finished_once(&*journal().await).await;
    a_note_does_not_make_the_call_known(&*journal().await).await;
    the_state_of_a_call_is_right_or_unknown(&*journal().await).await;
    an_entry_has_all_fields_of_the_call(&*journal().await).await;
    entries_are_newest_first_and_in_pages(&*journal().await).await;
    one_of_many_concurrent_calls_is_new(journal().await).await;
}

/// Creates a call of the tool `notes.add`.
#[must_use]
pub fn started(conversation: &str, id: &str, arguments: Value) -> StartedCall {
    let call = ToolCall::new("notes.add", arguments.clone()).conversation(conversation).id(id);
    started_by(&call, arguments)
}

/// Creates the end of a successful call that took 1.5 ms.
#[must_use]
pub fn finished(output: &str) -> FinishedCall {
    let mut result = ToolResult::success(output.to_owned());
    result.metadata.insert("of", output);
    FinishedCall::new(result, Duration::from_micros(1500))
}

fn started_by(call: &ToolCall<'_>, arguments: Value) -> StartedCall {
    let mut definition = ToolDefinition::default();
    for name in arguments.as_object().into_iter().flatten().map(|(name, _)| name.clone()) {
        definition.arguments.insert(name, Argument::new("any", true));
    }
    StartedCall::new(call, &definition, &arguments)
}

fn completed(finished: &FinishedCall) -> CallStatus {
    CallStatus::Completed(Box::new(finished.result.clone()))
}

async fn begun(journal: &dyn Journal, call: &StartedCall) -> CallStatus {
    let recalled = journal.recall(&call.key).await.expect("to be asked what it knows");
    let begun = journal.begin(call).await.expect("to record that a call starts");
    // `recall` may return `None`, but nothing that contradicts `begin`.
    let agrees = match &recalled {
        None => true,
        Some(CallStatus::NotStarted(_)) => begun == CallStatus::New,
        Some(recalled) => *recalled == begun,
    };
    assert!(agrees, "{recalled:?}, and then {begun:?}");
    begun
}

async fn finish(journal: &dyn Journal, call: &StartedCall, finished: &FinishedCall) {
    journal.finish(&call.key, finished).await.expect("to record how a call ended");
}

async fn entries(journal: &dyn Journal, query: EntryQuery) -> Vec<JournalEntry> {
    journal.entries(query).await.expect("to show its entries")
}

async fn a_completed_call_has_its_result(journal: &dyn Journal) {
    let call = started("c", "1", json!({"a": 1, "b": 2}));
    let again = || started("c", "1", json!({"b": 2, "a": 1}));
    assert_eq!(begun(journal, &call).await, CallStatus::New);
    assert_eq!(begun(journal, &again()).await, CallStatus::Running, "before it is finished");
    finish(journal, &call, &finished("done")).await;
    assert_eq!(begun(journal, &again()).await, completed(&finished("done")));
    assert_eq!(begun(journal, &again()).await, completed(&finished("done")), "asking changes nothing");
    assert_eq!(entries(journal, EntryQuery::newest(10)).await.len(), 1, "it is one call");
}

async fn a_failure_is_a_result_too(journal: &dyn Journal) {
    let failed =
        ToolError::new(ErrorKind::Busy, "`notes.add` has no room.").with_retry_after(Duration::from_millis(1500));
    let failed = FinishedCall::new(ToolResult::failure(failed), Duration::ZERO);
    let call = started("c", "1", json!({}));
    assert_eq!(begun(journal, &call).await, CallStatus::New);
    finish(journal, &call, &failed).await;
    assert_eq!(begun(journal, &started("c", "1", json!({}))).await, completed(&failed));
}

async fn a_call_that_did_not_start_can_begin_again(journal: &dyn Journal) {
    let call = || started("c", "1", json!({}));
    let failed = ToolError::new(ErrorKind::Injection, "`notes.add` did not run: the database is restarting.");
    let failed = FinishedCall::new(ToolResult::failure(failed), Duration::from_millis(2)).started(false);
    // Twice: the second attempt has a predecessor.
    for attempt in 1..=2 {
        let call = call();
        assert_eq!(begun(journal, &call).await, CallStatus::New, "attempt {attempt}");
        assert_eq!(begun(journal, &started("c", "1", json!({}))).await, CallStatus::Running, "attempt {attempt}");
        finish(journal, &call, &failed).await;
        let recalled = journal.recall(&call.key).await.expect("to be asked what it knows");
        let not_started = CallStatus::NotStarted(Box::new(failed.result.clone()));
        assert!(recalled.as_ref().is_none_or(|recalled| *recalled == not_started), "{recalled:?}");
        let state = journal.state_of("c", "1").await.expect("to be asked what became of a call");
        assert!(state.as_ref().is_none_or(|state| *state == EntryState::Noted), "it has not begun: {state:?}");
    }
    let last = call();
    assert_eq!(begun(journal, &last).await, CallStatus::New);
    finish(journal, &last, &finished("done")).await;
    assert_eq!(begun(journal, &call()).await, completed(&finished("done")), "now it has run");
    let shown: Vec<EntryState> =
        entries(journal, EntryQuery::newest(10)).await.into_iter().map(|entry| entry.state).collect();
    let failed = EntryState::Finished(failed);
    assert_eq!(shown, [EntryState::Finished(finished("done")), failed.clone(), failed], "each attempt is on record");
}

async fn another_conversation_id_tool_or_argument_is_another_call(journal: &dyn Journal) {
    let of_another_tool = ToolCall::new("notes.remove", json!({"a": 1})).conversation("c").id("1");
    for other in [
        started("c", "1", json!({"a": 1})),
        started("d", "1", json!({"a": 1})),
        started("c", "2", json!({"a": 1})),
        started("c", "1", json!({"a": 2})),
        started("c", "1", json!({"a": "1"})),
        started("c", "1", json!({})),
        started_by(&of_another_tool, json!({"a": 1})),
    ] {
        assert_eq!(begun(journal, &other).await, CallStatus::New, "{other:?}");
    }
}

async fn a_call_without_an_id_is_another_each_time(journal: &dyn Journal) {
    let of_conversation = ToolCall::new("notes.add", json!({})).conversation("c");
    let of_nothing = ToolCall::new("notes.add", json!({})).id("1");
    for call in [of_conversation, of_nothing] {
        let (first, second) = (started_by(&call, json!({})), started_by(&call, json!({})));
        assert_eq!(begun(journal, &first).await, CallStatus::New);
        assert_eq!(begun(journal, &second).await, CallStatus::New);
        finish(journal, &second, &finished("second")).await;
        let shown = entries(journal, EntryQuery::newest(2)).await;
        assert_eq!(shown[0].state, EntryState::Finished(finished("second")));
        assert_eq!(shown[1].state, EntryState::Running, "the other one goes on");
    }
}

async fn a_call_is_finished_once(journal: &dyn Journal) {
    let call = started("c", "1", json!({}));
    let never_begun = journal.finish(&call.key, &finished("")).await.expect_err("it has not begun");
    assert_eq!(never_begun.kind(), JournalErrorKind::NotRunning);
    assert_eq!(begun(journal, &call).await, CallStatus::New);
    finish(journal, &call, &finished("first")).await;
    let again = journal.finish(&call.key, &finished("second")).await.expect_err("it was finished before");
    assert_eq!(again.kind(), JournalErrorKind::NotRunning);
    assert_eq!(entries(journal, EntryQuery::newest(1)).await[0].state, EntryState::Finished(finished("first")));
}

async fn a_note_does_not_make_the_call_known(journal: &dyn Journal) {
    let call = started("c", "1", json!({}));
    for decision in [&JournalDecision::Pending, &JournalDecision::Refused] {
        journal.note(&call, decision).await.expect("to record a decision");
    }
    assert_eq!(begun(journal, &call).await, CallStatus::New);
    let shown = entries(journal, EntryQuery::newest(10)).await;
    let noted: Vec<_> =
        shown[1..].iter().map(|entry| (entry.decision.as_ref().map(JournalDecision::as_str), &entry.state)).collect();
    assert_eq!(noted, [(Some("refused"), &EntryState::Noted), (Some("pending"), &EntryState::Noted)]);
}

/// `state_of` may return `None`, but nothing wrong: an application makes a call again that has not begun.
async fn the_state_of_a_call_is_right_or_unknown(journal: &dyn Journal) {
    let (call, other) = (started("c", "1", json!({"a": 1})), started("c", "2", json!({"a": 1})));
    let state = async |conversation: &str, id: &str, expected: EntryState| {
        let said = journal.state_of(conversation, id).await.expect("to be asked what became of a call");
        assert!(said.as_ref().is_none_or(|said| *said == expected), "{said:?}, and it is {expected:?}");
    };
    state("c", "1", EntryState::Noted).await;
    journal.note(&call, &JournalDecision::Pending).await.expect("to record a decision");
    state("c", "1", EntryState::Noted).await;
    assert_eq!(begun(journal, &call).await, CallStatus::New);
    state("c", "1", EntryState::Running).await;
    state("c", "2", EntryState::Noted).await;
    state("d", "1", EntryState::Noted).await;
    finish(journal, &call, &finished("done")).await;
    assert_eq!(begun(journal, &other).await, CallStatus::New);
    state("c", "1", EntryState::Finished(finished("done"))).await;
    state("c", "2", EntryState::Running).await;
}

async fn an_entry_has_all_fields_of_the_call(journal: &dyn Journal) {
    let arguments = json!({"text": "Grüße \u{202e}\0", "numbers": [u64::MAX, i64::MIN, 0.1, -0.0], "nothing": null});
    let mut call = started("c", "1", arguments.clone()).decision("confirmed").repairs(json!([{"path": "text"}]));
    call.at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
    assert_eq!(begun(journal, &call).await, CallStatus::New);
    finish(journal, &call, &finished("done")).await;
    let shown = entries(journal, EntryQuery::newest(10)).await;
    let expected = JournalEntry {
        sequence: shown[0].sequence,
        conversation: Some("c".to_owned()),
        id: Some("1".to_owned()),
        tool: "notes.add".to_owned(),
        arguments,
        repairs: Some(json!([{"path": "text"}])),
        decision: Some(JournalDecision::Confirmed),
        at: call.at,
        state: EntryState::Finished(finished("done")),
    };
    assert_eq!(shown, [expected]);
}

async fn entries_are_newest_first_and_in_pages(journal: &dyn Journal) {
    for id in ["1", "2", "3"] {
        begun(journal, &started("c", id, json!({}))).await;
        journal.note(&started("other", id, json!({})), &JournalDecision::Refused).await.expect("to record a decision");
    }
    let query = || EntryQuery::newest(2).conversation("c").tool("notes.add");
    let ids = |page: &[JournalEntry]| page.iter().filter_map(|entry| entry.id.clone()).collect::<Vec<_>>();
    let first = entries(journal, query()).await;
    assert_eq!(ids(&first), ["3", "2"]);
    assert_eq!(ids(&entries(journal, query().before(first[1].sequence)).await), ["1"]);
    assert!(entries(journal, EntryQuery::newest(2).tool("notes.remove")).await.is_empty());
    assert!(entries(journal, EntryQuery::newest(0)).await.is_empty());
    let all = entries(journal, EntryQuery::newest(u32::MAX)).await;
    assert!(all.is_sorted_by(|newer, older| newer.sequence > older.sequence), "{all:?}");
    assert_eq!(all.len(), 6);
}

async fn one_of_many_concurrent_calls_is_new(journal: Arc<dyn Journal>) {
    for round in 0..10 {
        let begin = |_| {
            let journal = journal.clone();
            tokio::spawn(async move { journal.begin(&started("c", &round.to_string(), json!({}))).await })
        };
        let mut answers = Vec::new();
        for task in (0..20).map(begin).collect::<Vec<_>>() {
            answers.push(task.await.expect("to begin").expect("to record that a call starts"));
        }
        assert_eq!(answers.iter().filter(|&answer| *answer == CallStatus::New).count(), 1);
        assert_eq!(answers.iter().filter(|&answer| *answer == CallStatus::Running).count(), 19);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{BoxFuture, CallKey, JournalError, MemoryJournal};

    #[tokio::test(flavor = "multi_thread")]
    async fn the_memory_journal_conforms() {
        check(async || MemoryJournal::new()).await;
    }

    /// Ways in which a journal can break the contract.
    #[derive(Clone, Copy, Debug)]
    enum JournalFlaw {
        None,
        ForgetsCalls,
        ForgetsResults,
        MixesConversations,
        MixesArguments,
        KnowsThoseWithoutAName,
        FinishesAgain,
        FinishesWhatNeverBegan,
        TakesNotesForRuns,
        LosesRepairs,
        ShowsTheOldestFirst,
        IgnoresPages,
        RecallsWrongly,
        DeniesRuns,
        MixesIds,
        TakesAllForStarted,
        HidesAttempts,
    }

    struct FlawedJournal(MemoryJournal, JournalFlaw);

    impl FlawedJournal {
        fn key(&self, key: &CallKey) -> CallKey {
            let (conversation, id) = (key.conversation(), key.id());
            let arguments = &json!(key.canonical());
            match self.1 {
                JournalFlaw::MixesConversations => CallKey::new(Some("all"), id, "t", arguments),
                JournalFlaw::MixesArguments => CallKey::new(conversation, id, "t", &json!({})),
                JournalFlaw::KnowsThoseWithoutAName => CallKey::new(conversation, id.or(Some("")), "t", arguments),
                _ => key.clone(),
            }
        }
    }

    impl Journal for FlawedJournal {
        fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
            Box::pin(async {
                let mut call = call.clone();
                call.key = self.key(&call.key);
                if matches!(self.1, JournalFlaw::LosesRepairs) {
                    call.repairs = None;
                }
                match (self.1, self.0.begin(&call).await?) {
                    (JournalFlaw::ForgetsCalls, _) => Ok(CallStatus::New),
                    (JournalFlaw::ForgetsResults, CallStatus::Completed(_)) => Ok(CallStatus::Unfinished),
                    (_, begun) => Ok(begun),
                }
            })
        }

        fn recall<'a>(&'a self, key: &'a CallKey) -> BoxFuture<'a, Result<Option<CallStatus>, JournalError>> {
            Box::pin(async {
                let known = self.0.recall(&self.key(key)).await?;
                let wrong = matches!(self.1, JournalFlaw::RecallsWrongly).then_some(CallStatus::Unfinished);
                Ok(known.map(|known| wrong.unwrap_or(known)).filter(|_| !matches!(self.1, JournalFlaw::ForgetsCalls)))
            })
        }

        fn state_of<'a>(
            &'a self,
            conversation: &'a str,
            id: &'a str,
        ) -> BoxFuture<'a, Result<Option<EntryState>, JournalError>> {
            Box::pin(async move {
                match self.1 {
                    JournalFlaw::DeniesRuns => Ok(Some(EntryState::Noted)),
                    JournalFlaw::MixesIds => self.0.state_of(conversation, "1").await,
                    _ => self.0.state_of(conversation, id).await,
                }
            })
        }

        fn finish<'a>(
            &'a self,
            key: &'a CallKey,
            finished: &'a FinishedCall,
        ) -> BoxFuture<'a, Result<(), JournalError>> {
            Box::pin(async {
                let begun = self.0.recall(key).await?;
                let mut finished = finished.clone();
                finished.started |= matches!(self.1, JournalFlaw::TakesAllForStarted);
                match (self.1, self.0.finish(key, &finished).await) {
                    (JournalFlaw::FinishesAgain, Err(_)) if begun.is_some() => Ok(()),
                    (JournalFlaw::FinishesWhatNeverBegan, Err(_)) if begun.is_none() => Ok(()),
                    (_, ended) => ended,
                }
            })
        }

        fn note<'a>(
            &'a self,
            call: &'a StartedCall,
            decision: &'a JournalDecision,
        ) -> BoxFuture<'a, Result<(), JournalError>> {
            Box::pin(async move {
                if matches!(self.1, JournalFlaw::TakesNotesForRuns) {
                    self.0.begin(call).await?;
                }
                self.0.note(call, decision).await
            })
        }

        fn entries<'a>(&'a self, mut query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
            Box::pin(async move {
                if matches!(self.1, JournalFlaw::IgnoresPages) {
                    query.before = None;
                }
                let mut entries = self.0.entries(query).await?;
                match self.1 {
                    JournalFlaw::ShowsTheOldestFirst => entries.reverse(),
                    JournalFlaw::HidesAttempts => entries
                        .retain(|entry| !matches!(&entry.state, EntryState::Finished(finished) if !finished.started)),
                    _ => {}
                }
                Ok(entries)
            })
        }
    }

    async fn passes(flaw: JournalFlaw) -> bool {
        let checked = tokio::spawn(check(async move || FlawedJournal(MemoryJournal::new(), flaw)));
        checked.await.is_ok()
    }

    /// The control: each flaw is found, and the same journal without a flaw passes.
    #[tokio::test(flavor = "multi_thread")]
    async fn flaws_are_found() {
        assert!(passes(JournalFlaw::None).await);
        for flaw in [
            JournalFlaw::ForgetsCalls,
            JournalFlaw::ForgetsResults,
            JournalFlaw::MixesConversations,
            JournalFlaw::MixesArguments,
            JournalFlaw::KnowsThoseWithoutAName,
            JournalFlaw::FinishesAgain,
            JournalFlaw::FinishesWhatNeverBegan,
            JournalFlaw::TakesNotesForRuns,
            JournalFlaw::LosesRepairs,
            JournalFlaw::ShowsTheOldestFirst,
            JournalFlaw::IgnoresPages,
            JournalFlaw::RecallsWrongly,
            JournalFlaw::DeniesRuns,
            JournalFlaw::MixesIds,
            JournalFlaw::TakesAllForStarted,
            JournalFlaw::HidesAttempts,
        ] {
            assert!(!passes(flaw).await, "{flaw:?} is not found");
        }
    }
}
