//! Calls that are pending, refused, aborted or cancelled, or whose process is killed. The provider accepts the
//! conversation in every case.

use serde_json::json;
use tool_agent::{ConversationChange, ConversationStore, Message, RunEnding, SqliteStore};
use tool_runtime::confirm::{self, Decision, Deferred, SealingKey};
use tool_runtime::{CancellationToken, ErrorKind};

use super::Scene;
use crate::server::{Received, Reply};
use crate::support::{kinds, until};

/// A scene in which a model adds and makes a call that needs approval, which is deferred.
async fn waiting(scene: &Scene) -> Scene {
    let waiting = Scene::with(scene.way, |agent| agent.deferred(Deferred::new(SealingKey::random().unwrap()))).await;
    let outcome = waiting.say("Forget it.", [forget(&waiting)]).await;
    assert_eq!(outcome.ending, RunEnding::Waiting(1));
    waiting
}

/// Makes two calls, one of which needs approval.
fn forget(scene: &Scene) -> Reply {
    let add = scene.call(1, "math.add", json!({"a": 1, "b": 2}));
    Reply::calls([add, scene.call(2, "math.forget", json!({}))]).saying("Let me see.")
}

impl Scene {
    async fn decide(&self, decision: Decision, script: impl IntoIterator<Item = Reply>) -> RunEnding {
        self.server.follow(script);
        let token = self.conversation.pending_calls().await.unwrap().remove(0).0.token;
        self.conversation.decide(token, decision).await.ending
    }

    /// Returns the error kinds of the last results.
    async fn last_kinds(&self) -> Vec<Option<ErrorKind>> {
        let history = self.conversation.history().await.unwrap();
        kinds(history.iter().rfind(|message| matches!(message, Message::Tools { .. })).expect("there were calls"))
    }
}

pub async fn a_pending_call_that_is_approved(scene: Scene) -> Vec<Received> {
    let scene = waiting(&scene).await;
    assert_eq!(scene.decide(Decision::Run, [Reply::text("It is forgotten.")]).await, RunEnding::Answered);
    assert_eq!(scene.outputs().await, ["3", "forgotten"]);
    scene.goes_on().await
}

pub async fn a_pending_call_that_is_refused(scene: Scene) -> Vec<Received> {
    let scene = waiting(&scene).await;
    let refuse = Decision::refuse("I need it");
    assert_eq!(scene.decide(refuse, [Reply::text("Then not.")]).await, RunEnding::Answered);
    assert_eq!(scene.last_kinds().await, [None, Some(ErrorKind::Refused)]);
    scene.goes_on().await
}

pub async fn a_pending_call_that_is_withdrawn(scene: Scene) -> Vec<Received> {
    let scene = waiting(&scene).await;
    assert_eq!(scene.last_kinds().await, [None, Some(ErrorKind::Pending)]);
    scene.goes_on().await
}

pub async fn a_pending_call_that_is_aborted(scene: Scene) -> Vec<Received> {
    let scene = waiting(&scene).await;
    assert_eq!(scene.decide(Decision::Abort, []).await, RunEnding::Aborted);
    scene.goes_on().await
}

pub async fn a_call_that_is_refused(scene: Scene) -> Vec<Received> {
    let refusing = confirm::from_fn(|_| async { Decision::refuse("I need it") });
    let scene = Scene::with(scene.way, |agent| agent.confirm(refusing)).await;
    let outcome = scene.say("Forget it.", [forget(&scene), Reply::text("Then not.")]).await;
    assert_eq!(outcome.answer(), Some("Then not."));
    assert_eq!(scene.last_kinds().await, [None, Some(ErrorKind::Refused)]);
    scene.goes_on().await
}

pub async fn a_call_that_is_aborted(scene: Scene) -> Vec<Received> {
    let stopping = confirm::from_fn(|_| async { Decision::Abort });
    let scene = Scene::with(scene.way, |agent| agent.confirm(stopping)).await;
    assert_eq!(scene.say("Forget it.", [forget(&scene)]).await.ending, RunEnding::Aborted);
    assert_eq!(scene.last_kinds().await[1], Some(ErrorKind::Aborted));
    scene.goes_on().await
}

/// Starts a run with two calls, one of which never ends, and waits until it is in the middle of it.
async fn pondering(scene: &Scene, token: &CancellationToken) -> tokio::task::JoinHandle<tool_agent::RunOutcome> {
    let add = scene.call(1, "math.add", json!({"a": 1, "b": 2}));
    scene.server.follow([Reply::calls([add, scene.call(2, "math.ponder", json!({}))])]);
    let run = scene.conversation.say("Ponder.").cancel(token.clone());
    let mut events = run.events();
    let run = tokio::spawn(run.into_future());
    // One of them ends.
    while let Some(update) = events.next().await {
        if matches!(update.event(), Some(tool_agent::AgentEvent::CallFinished(_))) {
            break;
        }
    }
    run
}

pub async fn a_call_that_is_cancelled(scene: Scene) -> Vec<Received> {
    let token = CancellationToken::new();
    let run = pondering(&scene, &token).await;
    token.cancel();
    assert_eq!(run.await.expect("it does not panic").ending, RunEnding::Cancelled);
    assert_eq!(scene.last_kinds().await, [None, Some(ErrorKind::Cancelled)]);
    scene.goes_on().await
}

pub async fn a_call_that_is_dropped(scene: Scene) -> Vec<Received> {
    let run = pondering(&scene, &CancellationToken::new()).await;
    run.abort();
    until("its end", || run.is_finished()).await;
    assert_eq!(scene.last_kinds().await, [None, Some(ErrorKind::Cancelled)]);
    scene.goes_on().await
}

pub async fn a_process_that_crashed(scene: Scene) -> Vec<Received> {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("conversations.sqlite")).await.unwrap();
    let first = Scene::with(scene.way, |agent| agent.store(store.clone())).await;
    first.say("Add.", [first.add(1, 2), Reply::status(400)]).await;
    // As if the process had ended before it saved the result.
    let id = first.conversation.id();
    let saved = store.load(id).await.unwrap().unwrap();
    assert!(matches!(saved.messages.last(), Some(Message::Tools { .. })), "{saved:?}");
    store.save(id, ConversationChange::new(1, &[]).after(saved.version, saved.messages.len() - 1)).await.unwrap();

    let next = Scene::with(scene.way, |agent| agent.store(store)).await;
    assert_eq!(next.last_kinds().await, [Some(ErrorKind::OutcomeUnknown)]);
    next.server.follow([Reply::text("I shall look.")]);
    assert_eq!(next.conversation.resume().await.answer(), Some("I shall look."));
    let mut sent = first.server.received();
    sent.extend(next.goes_on().await);
    sent
}
