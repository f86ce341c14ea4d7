//! Decisions that are dropped, and calls whose approval expires.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tool_agent::{
    Agent, AgentEvent, AgentSubscriber, AgentUpdate, Conversation, Message, Run, RunEnding, ScriptedModel,
};
use tool_journal::SqliteJournal;
use tool_runtime::ErrorKind;
use tool_runtime::confirm::{
    Decision, Deferred, MemoryPendingStore, PendingStore, PendingStoreError, PendingStoreFuture, SealedCall, SealingKey,
};

use crate::approvals::{deleting, started, token};
use crate::cancellation::polled;
use crate::support::{Gauge, assert_valid, builder, kinds, tools};

fn outputs(message: &Message) -> Vec<&str> {
    let Message::Tools { results } = message else { panic!("no results: {message:?}") };
    results.iter().map(|result| result.result.output.as_str()).collect()
}

/// A consumed token has had its effect: the result does not become unknown or get another reason later.
#[tokio::test]
async fn a_refusal_dropped_at_any_point_happens_or_not() {
    let reasons = [(Decision::refuse("keep it"), "keep it"), (Decision::Abort, "the user aborted the turn")];
    for (decision, reason) in reasons {
        let (mut waits, mut refused) = (0, 0);
        // The number of polls depends on a thread that writes to disk: repeat from the first poll to the last, until it
        // was dropped on both sides of the decisive moment.
        let mut times = 0;
        for round in 0.. {
            assert!(round < 1_000, "{waits} wait, {refused} are refused, and never both");
            let folder = tempfile::tempdir().unwrap();
            let (agent, gauge) = started(folder.path()).await;
            let conversation = agent.conversation("c");
            conversation.say("Delete!").await;
            let first = token(&conversation, "a").await;
            let done = polled(times, 0, conversation.decide(&first, decision.clone()).into_future()).await;
            let history = conversation.history().await.unwrap();
            assert_valid(&history);
            match kinds(&history[2])[0] {
                Some(ErrorKind::Pending) => waits += 1,
                Some(ErrorKind::Refused) => {
                    assert!(outputs(&history[2])[0].contains(reason), "{history:?}");
                    refused += usize::from(done.is_none());
                }
                other => panic!("{other:?} after {times} polls"),
            }
            assert_eq!(conversation.say("Go on").await.ending, RunEnding::Waiting(2));
            let history = conversation.history().await.unwrap();
            assert_valid(&history);
            // A call that was removed in that moment is recorded as not started.
            let kind = kinds(&history[2])[0];
            assert!(matches!(kind, Some(ErrorKind::Refused | ErrorKind::Cancelled)), "{history:?}");
            assert_eq!(gauge.steps(), 2, "the steps of both turns, and nothing was deleted");
            if done.is_some() && waits > 0 && refused > 0 {
                break;
            }
            times = if done.is_some() { 0 } else { times + 1 };
        }
    }
}

/// Returns the outputs of the calls that have finished.
fn finished(events: &mut AgentSubscriber) -> Vec<String> {
    let received = std::iter::from_fn(|| events.try_next()).filter_map(AgentUpdate::into_event);
    let finished = received.filter_map(|event| match event {
        AgentEvent::CallFinished(result) if result.name == "thing.delete" => Some(result.result.output.clone()),
        _ => None,
    });
    finished.collect()
}

#[tokio::test]
async fn subscribers_learn_that_approvals_have_expired() {
    let ways: [fn(&Conversation) -> Run; 2] = [|c| c.say("Go on"), Conversation::resume];
    for begin in ways {
        let deferred = Deferred::new(SealingKey::random().unwrap()).expires_in(Duration::ZERO);
        let agent = Agent::builder(ScriptedModel::from_fn(deleting), tools().0).deferred(deferred).build();
        let conversation = agent.conversation("c");
        let mut events = conversation.events();
        conversation.say("Delete!").await;
        assert!(finished(&mut events).is_empty(), "the control: they are pending");
        begin(&conversation).await;
        assert_eq!(finished(&mut events), ["`thing.delete` was not run: the approval expired."; 2]);
    }
}

/// A store of pending calls that cannot list them any more from some point on.
#[derive(Default)]
struct Fading {
    calls: MemoryPendingStore,
    is_gone: Arc<AtomicBool>,
}

impl PendingStore for Fading {
    fn put(&self, call: SealedCall) -> PendingStoreFuture<'_, ()> {
        self.calls.put(call)
    }

    fn get<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        self.calls.get(id)
    }

    fn take<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        self.calls.take(id)
    }

    fn list<'a>(&'a self, conversation: &'a str) -> PendingStoreFuture<'a, Vec<SealedCall>> {
        match self.is_gone.load(Ordering::SeqCst) {
            true => Box::pin(async { Err(PendingStoreError::new("it is gone")) }),
            false => self.calls.list(conversation),
        }
    }
}

/// Pending calls cannot be listed, and the user continues: a call that has run is not reported as refused.
#[tokio::test]
async fn calls_that_cannot_be_withdrawn_are_looked_up() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path().join("calls.db")).await.unwrap();
    let tools = builder(&Gauge::default()).journal(journal).build().unwrap();
    let store = Fading::default();
    let is_gone = store.is_gone.clone();
    let deferred = Deferred::new(SealingKey::random().unwrap()).store(store);
    let agent = Agent::builder(ScriptedModel::from_fn(deleting), tools.clone()).deferred(deferred.clone()).build();
    let conversation = agent.conversation("c");
    let mut events = conversation.events();
    assert_eq!(conversation.say("Delete!").await.ending, RunEnding::Waiting(2));
    // Approved elsewhere.
    let first = token(&conversation, "a").await;
    let result = deferred.resume(&first, SystemTime::now(), |question| tools.approve(question)).await.unwrap();
    assert_eq!(result.output, "a is gone");
    is_gone.store(true, Ordering::SeqCst);
    assert!(finished(&mut events).is_empty());

    conversation.say("Go on").await;
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [None, None, Some(ErrorKind::Cancelled)]);
    let not_begun = "`thing.delete` was not run: the run was stopped before the call started.";
    assert_eq!(finished(&mut events), ["a is gone", not_begun]);
}
