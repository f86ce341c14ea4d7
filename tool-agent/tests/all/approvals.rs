//! Calls that are pending approval.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tool_agent::{
    Agent, AgentEvent, AgentUpdate, Conversation, Message, ModelRequest, ReachedLimit, Reply, RunEnding, RunLimits,
    ScriptedModel, SqliteStore,
};
use tool_journal::SqliteJournal;
use tool_runtime::confirm::{self, Decision, Deferred, SealingKey, TokenError};
use tool_runtime::{Dispatcher, ErrorKind, RuntimeTool, ToolCall};

use crate::cancellation::polled;
use crate::support::{Gauge, assert_valid, builder, kinds, tools};

/// Deletes two things and does a step, then reports the results.
pub fn deleting(request: ModelRequest<'_>) -> Reply {
    match request.messages.last() {
        Some(Message::Tools { results }) => {
            let outputs: Vec<&str> = results.iter().map(|result| result.result.output.as_str()).collect();
            Reply::text(outputs.join("; "))
        }
        _ => Reply::call("thing.delete", json!({"name": "a"}))
            .and_call("work.steps", json!({"steps": 1}))
            .and_call("thing.delete", json!({"name": "b"})),
    }
}

fn deferring() -> (Agent, Gauge) {
    let (tools, gauge) = tools();
    let deferred = Deferred::new(SealingKey::random().unwrap());
    (Agent::builder(ScriptedModel::from_fn(deleting), tools).deferred(deferred).build(), gauge)
}

/// Returns the tokens of pending calls, by the thing that they would delete.
pub async fn token(conversation: &Conversation, name: &str) -> String {
    let waiting = conversation.pending_calls().await.unwrap();
    let found = waiting.into_iter().find(|(_, call)| call.question.arguments == json!({"name": name}));
    found.unwrap().0.token
}

#[tokio::test]
async fn each_decision_sets_the_result_of_its_call() {
    let (agent, gauge) = deferring();
    let conversation = agent.conversation("c");
    let run = conversation.say("Delete!");
    let mut events = run.events();
    let outcome = run.await;
    assert_eq!((outcome.ending, gauge.steps()), (RunEnding::Waiting(2), 1), "a call that needs no approval has run");
    let pending = std::iter::from_fn(|| events.try_next());
    let pending = pending.filter_map(AgentUpdate::into_event);
    let pending = pending.filter(|event| matches!(event, AgentEvent::CallPending { expires: Some(_), .. }));
    assert_eq!(pending.count(), 2);
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert!(!serde_json::to_string(&history).unwrap().contains("token"), "{history:?}");
    assert_eq!(conversation.resume().await.ending, RunEnding::Waiting(2));

    let second = token(&conversation, "b").await;
    let outcome = conversation.decide(&second, Decision::Edit(json!({"name": "c"}))).await;
    assert_eq!((outcome.ending, gauge.steps()), (RunEnding::Waiting(1), 2));
    assert_eq!(conversation.decide(&second, Decision::Run).await.ending, RunEnding::NotWaiting(TokenError::Invalid));
    assert_valid(&conversation.history().await.unwrap());

    let first = token(&conversation, "a").await;
    let outcome = conversation.decide(&first, Decision::refuse("keep it")).await;
    assert_eq!(outcome.answer(), Some("`thing.delete` was refused: keep it.; 1; c is gone"));
    assert_valid(&conversation.history().await.unwrap());
    assert!(conversation.pending_calls().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_invalid_edit_leaves_the_call_pending() {
    let (agent, gauge) = deferring();
    let conversation = agent.conversation("c");
    conversation.say("Delete!").await;
    let first = token(&conversation, "a").await;
    let outcome = conversation.decide(&first, Decision::Edit(json!({"nam": 1}))).await;
    let RunEnding::NotBegun(result) = outcome.ending else { panic!("{outcome:?}") };
    assert_eq!(result.error.unwrap().kind, ErrorKind::InvalidArguments);
    assert_valid(&conversation.history().await.unwrap());
    assert_eq!(conversation.decide(&first, Decision::Run).await.ending, RunEnding::Waiting(1));
    assert_eq!(gauge.steps(), 2);
}

/// Dropping a decision before the call starts does not consume the approval.
#[tokio::test]
async fn a_decision_dropped_before_its_call_starts_leaves_it_pending() {
    let gauge = Gauge::default();
    let hold = RuntimeTool::new("hold", "Never ends.", |()| std::future::pending::<()>());
    let tools = builder(&gauge).tool(hold).concurrency(1, 10).build().unwrap();
    let deferred = Deferred::new(SealingKey::random().unwrap());
    let agent = Agent::builder(ScriptedModel::from_fn(deleting), tools.clone()).deferred(deferred).build();
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("Delete!").await.ending, RunEnding::Waiting(2));
    let first = token(&conversation, "a").await;

    let mut held = Box::pin(tools.call(ToolCall::from_text("hold", "{}")));
    assert!(tokio::time::timeout(Duration::ZERO, &mut held).await.is_err(), "it takes the only permit");
    let decided = conversation.decide(&first, Decision::Run);
    let mut events = decided.events();
    assert!(tokio::time::timeout(Duration::from_millis(50), decided.into_future()).await.is_err(), "it is queued");
    let received: Vec<AgentEvent> =
        std::iter::from_fn(|| events.try_next()).filter_map(AgentUpdate::into_event).collect();
    let started =
        received.iter().position(|event| matches!(event, AgentEvent::CallStarted { .. })).expect("it was on its way");
    assert!(received[started..].iter().any(|event| matches!(event, AgentEvent::CallPending { .. })), "{received:?}");
    assert!(!received.iter().any(|event| matches!(event, AgentEvent::CallFinished(_))), "{received:?}");
    drop(held);

    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::Pending), None, Some(ErrorKind::Pending)]);
    assert_eq!(conversation.decide(&first, Decision::Run).await.ending, RunEnding::Waiting(1));
    assert_eq!(gauge.steps(), 2, "it has run once");
    assert_eq!(conversation.decide(&first, Decision::Run).await.ending, RunEnding::NotWaiting(TokenError::Invalid));
}

#[tokio::test]
async fn an_approved_call_has_its_timeout() {
    let (tools, gauge) = tools();
    let model = ScriptedModel::new([Reply::call("thing.watch", json!({}))]);
    let agent = Agent::builder(model, tools).deferred(Deferred::new(SealingKey::random().unwrap())).build();
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("Watch!").await.ending, RunEnding::Waiting(1));
    let token = conversation.pending_calls().await.unwrap().remove(0).0.token;
    let in_time = RunLimits::default().time(Duration::from_millis(500));
    let outcome = conversation.decide(token, Decision::Run).limits(in_time).await;
    assert_eq!(outcome.ending, RunEnding::Limit(ReachedLimit::Time));
    assert_eq!(gauge.running(), 0);
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::Cancelled)]);
}

#[tokio::test]
async fn an_abort_refuses_all_calls_and_ends_the_run() {
    let (agent, gauge) = deferring();
    let conversation = agent.conversation("c");
    conversation.say("Delete!").await;
    let first = token(&conversation, "a").await;
    let outcome = conversation.decide(&first, Decision::Abort).await;
    assert_eq!((outcome.ending, outcome.turns, gauge.steps()), (RunEnding::Aborted, 0, 1));
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::Refused), None, Some(ErrorKind::Refused)]);
    assert!(conversation.pending_calls().await.unwrap().is_empty());
}

#[tokio::test]
async fn continuing_without_a_decision_withdraws_pending_calls() {
    let (agent, gauge) = deferring();
    let conversation = agent.conversation("c");
    conversation.say("Delete!").await;
    let first = token(&conversation, "a").await;
    assert_eq!(
        conversation.say("Forget it.").await.ending,
        RunEnding::Waiting(2),
        "the model makes the same calls again"
    );
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::Refused), None, Some(ErrorKind::Refused)]);
    assert_eq!(conversation.decide(&first, Decision::Run).await.ending, RunEnding::NotWaiting(TokenError::Invalid));
    assert_eq!(gauge.steps(), 2, "the steps of both turns, and nothing was deleted");
}

/// Pending calls of an earlier conversation with the same id, or of a crash, are not listed.
#[tokio::test]
async fn listed_calls_can_be_decided() {
    let (tools, _) = tools();
    let deferred = Deferred::new(SealingKey::random().unwrap());
    let agent = |tools: &Dispatcher| {
        Agent::builder(ScriptedModel::from_fn(deleting), tools.clone()).deferred(deferred.clone()).build()
    };
    // A conversation that was lost, as after a restart without a store.
    assert_eq!(agent(&tools).conversation("c").say("Delete!").await.ending, RunEnding::Waiting(2));
    let agent = agent(&tools);
    let conversation = agent.conversation("c");
    assert!(conversation.pending_calls().await.unwrap().is_empty());
    assert_eq!(conversation.say("Delete!").await.ending, RunEnding::Waiting(2));
    let waiting = conversation.pending_calls().await.unwrap();
    assert_eq!(waiting.len(), 2);
    for (left, (pending, _)) in [1, 0].into_iter().zip(waiting) {
        let ending = conversation.decide(pending.token, Decision::Run).await.ending;
        assert_eq!(ending, if left > 0 { RunEnding::Waiting(left) } else { RunEnding::Answered });
    }
}

/// After a restart without deferred approvals, the conversation is not blocked forever.
#[tokio::test]
async fn calls_that_cannot_be_approved_any_more_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, _) = started(folder.path()).await;
    assert_eq!(agent.conversation("c").say("Delete!").await.ending, RunEnding::Waiting(2));
    drop(agent);
    let store = SqliteStore::open(folder.path().join("chats.db")).await.unwrap();
    let agent = Agent::builder(ScriptedModel::from_fn(deleting), tools().0).store(store).build();
    let conversation = agent.conversation("c");
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::Refused), None, Some(ErrorKind::Refused)]);
    assert_eq!(conversation.resume().await.ending, RunEnding::Answered);
}

/// The token of one conversation is invalid in another, and is not consumed.
#[tokio::test]
async fn a_token_belongs_to_its_conversation() {
    let (agent, gauge) = deferring();
    let (one, other) = (agent.conversation("one"), agent.conversation("other"));
    one.say("Delete!").await;
    other.say("Delete!").await;
    let first = token(&one, "a").await;
    assert_eq!(other.decide(&first, Decision::Run).await.ending, RunEnding::NotWaiting(TokenError::Invalid));
    assert_eq!(gauge.steps(), 2, "only the calls that need no approval");
    assert_eq!(one.decide(&first, Decision::Run).await.ending, RunEnding::Waiting(1));
    assert_eq!(gauge.steps(), 3);
}

#[tokio::test]
async fn the_confirmer_is_asked_while_the_run_waits() {
    let (tools, gauge) = tools();
    let agent = Agent::builder(ScriptedModel::from_fn(deleting), tools).build();
    let asked = confirm::from_fn(|question| async move {
        match question.arguments["name"].as_str() {
            Some("a") => Decision::Run,
            _ => Decision::Refuse(None),
        }
    });
    let outcome = agent.conversation("c").say("Delete!").confirm(asked).await;
    assert_eq!(outcome.answer(), Some("a is gone; 1; `thing.delete` was refused."));
    assert_eq!(gauge.steps(), 2);
    let stop = confirm::from_fn(|_| async { Decision::Abort });
    let conversation = agent.conversation("d");
    assert_eq!(conversation.say("Delete!").confirm(stop).await.ending, RunEnding::Aborted);
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    let kinds = kinds(&history[2]);
    assert!(kinds[0] == Some(ErrorKind::Aborted) || kinds[2] == Some(ErrorKind::Aborted), "{kinds:?}");
    // The call that needs no approval may have run before the others were stopped.
    assert_eq!(gauge.steps(), 2 + u64::from(kinds[1].is_none()), "{kinds:?}");
}

/// A decision is dropped in the middle: a call that has not started is still pending, and any other has a result.
#[tokio::test]
async fn a_decision_dropped_at_any_point_happens_or_not() {
    let (mut waits, mut stopped) = (0, 0);
    for times in 0.. {
        assert!(times < 1_000, "it never ends");
        let folder = tempfile::tempdir().unwrap();
        let (agent, gauge) = started(folder.path()).await;
        let conversation = agent.conversation("c");
        conversation.say("Delete!").await;
        let first = token(&conversation, "a").await;
        let run = conversation.decide(&first, Decision::Run);
        let mut events = run.events();
        let done = polled(times, 0, run.into_future()).await;
        let history = conversation.history().await.unwrap();
        assert_valid(&history);
        let received: Vec<AgentUpdate> = std::iter::from_fn(|| events.try_next()).collect();
        let count = |is: fn(&AgentEvent) -> bool| {
            received.iter().filter_map(AgentUpdate::event).filter(|event| is(event)).count()
        };
        assert_eq!(
            count(|event| matches!(event, AgentEvent::CallStarted { .. })),
            count(|event| matches!(event, AgentEvent::CallFinished(_) | AgentEvent::CallPending { .. })),
            "{received:?}"
        );
        let kind = kinds(&history[2])[0];
        let still = conversation.pending_calls().await.unwrap().len();
        match kind {
            Some(ErrorKind::Pending) if still == 2 => {
                assert_eq!(gauge.steps(), 1);
                match conversation.decide(&first, Decision::Run).await.ending {
                    RunEnding::Waiting(1) => waits += 1,
                    // The store was about to remove it.
                    RunEnding::NotWaiting(TokenError::Invalid) => stopped += 1,
                    other => panic!("{other:?}"),
                }
            }
            // The token was consumed, and the call had not started or not ended.
            Some(ErrorKind::Pending | ErrorKind::Cancelled) => stopped += 1,
            None => assert_eq!((gauge.steps(), still), (2, 1)),
            other => panic!("{other:?}"),
        }
        assert_eq!(conversation.say("Go on").await.ending, RunEnding::Waiting(2));
        assert_valid(&conversation.history().await.unwrap());
        if done.is_some() {
            break;
        }
    }
    assert!(waits > 0 && stopped > 0, "{waits} {stopped}");
}

/// Returns an agent after a restart, with the files on disk.
pub async fn started(folder: &Path) -> (Agent, Gauge) {
    let gauge = Gauge::default();
    let journal = SqliteJournal::open(folder.join("calls.db")).await.unwrap();
    let store = SqliteStore::open(folder.join("chats.db")).await.unwrap();
    let deferred = Deferred::new([7; 32]).store(journal.clone());
    let tools = builder(&gauge).journal(journal).build().unwrap();
    let agent = Agent::builder(ScriptedModel::from_fn(deleting), tools).deferred(deferred).store(store).build();
    (agent, gauge)
}

#[tokio::test]
async fn pending_calls_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, gauge) = started(folder.path()).await;
    assert_eq!(agent.conversation("c").say("Delete!").await.ending, RunEnding::Waiting(2));
    assert_eq!(gauge.steps(), 1);
    drop(agent);

    let (agent, gauge) = started(folder.path()).await;
    let conversation = agent.conversation("c");
    let first = token(&conversation, "a").await;
    assert_eq!(conversation.decide(&first, Decision::Run).await.ending, RunEnding::Waiting(1));
    drop((agent, conversation));

    let (agent, later) = started(folder.path()).await;
    let conversation = agent.conversation("c");
    assert_valid(&conversation.history().await.unwrap());
    let second = token(&conversation, "b").await;
    let outcome = conversation.decide(&second, Decision::Run).await;
    assert_eq!(outcome.answer(), Some("a is gone; 1; b is gone"));
    assert_eq!((gauge.steps(), later.steps()), (1, 1));
    assert_valid(&conversation.history().await.unwrap());
}
