//! Decisions that are stopped in the middle, and calls that stop waiting without one.

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

use crate::cancelled::polled;
use crate::consent::{deleting, started, token};
use crate::support::{Gauge, assert_valid, builder, kinds, tools};

fn outputs(message: &Message) -> Vec<&str> {
    let Message::Tools { results } = message else { panic!("no results: {message:?}") };
    results.iter().map(|result| result.result.output.as_str()).collect()
}

/// A token that is used up has had its effect: nobody says later that nobody knows, or another reason.
#[tokio::test]
async fn a_refusal_dropped_at_any_point_is_made_or_not() {
    let reasons = [(Decision::refuse("keep it"), "keep it"), (Decision::Abort, "the user aborted the turn")];
    for (decision, reason) in reasons {
        let (mut waits, mut refused) = (0, 0);
        // How often it is polled until it is done depends on a thread that writes to the disk: from the first poll to the
        // last, again and again until it was dropped on both sides of the moment that counts.
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
            // What was taken out in the very moment is on record as not begun.
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

/// The calls that have ended, by what came of them.
fn finished(events: &mut AgentSubscriber) -> Vec<String> {
    let told = std::iter::from_fn(|| events.try_next()).filter_map(AgentUpdate::into_event);
    let finished = told.filter_map(|event| match event {
        AgentEvent::CallFinished(result) if result.name == "thing.delete" => Some(result.result.output.clone()),
        _ => None,
    });
    finished.collect()
}

#[tokio::test]
async fn whoever_watches_hears_of_calls_for_which_it_is_too_late() {
    let ways: [fn(&Conversation) -> Run; 2] = [|c| c.say("Go on"), Conversation::resume];
    for begin in ways {
        let deferred = Deferred::new(SealingKey::random().unwrap()).expires_in(Duration::ZERO);
        let agent = Agent::builder(ScriptedModel::from_fn(deleting), tools().0).deferred(deferred).build();
        let conversation = agent.conversation("c");
        let mut events = conversation.events();
        conversation.say("Delete!").await;
        assert!(finished(&mut events).is_empty(), "the control: they wait");
        begin(&conversation).await;
        assert_eq!(finished(&mut events), ["`thing.delete` was not run: the approval expired."; 2]);
    }
}

/// Calls that wait, and that cannot be listed any more from some point on.
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

/// Nobody can say any more what waits, and the person goes on: what has run is not said to be refused.
#[tokio::test]
async fn what_cannot_be_withdrawn_is_looked_up() {
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
    // Somebody has agreed elsewhere.
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
