//! One conversation in the memory of several processes, each with its own agent.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Semaphore;
use tool_agent::{
    Agent, AssistantMessage, CallResult, ConversationChange, ConversationStore, Message, Mode, ModelCall, Reply,
    RunEnding, ScriptedModel, SqliteStore,
};
use tool_runtime::ToolResult;
use tool_runtime::confirm::{self, Decision};

use crate::approvals::{started, token};
use crate::support::{assert_valid, tools};

/// An agent whose model responds with the number of messages that it has read.
async fn counting(folder: &tempfile::TempDir) -> (Agent, SqliteStore) {
    let store = SqliteStore::open(folder.path().join("chats.db")).await.unwrap();
    let model = ScriptedModel::from_fn(|request| Reply::text(request.messages.len().to_string()));
    (Agent::builder(model, tools().0).store(store.clone()).build(), store)
}

#[tokio::test]
async fn each_process_sees_the_messages_of_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let ((one, store), (other, _)) = (counting(&folder).await, counting(&folder).await);
    let (one, other) = (one.conversation("c"), other.conversation("c"));
    assert_eq!(other.say("One").await.answer(), Some("1"));
    assert_eq!(one.say("Two").await.answer(), Some("3"));
    assert_eq!(other.resume().await.answer(), Some("3"), "the last answer is that of the first process");
    assert_eq!(other.history().await.unwrap(), one.history().await.unwrap());
    assert_eq!(other.say("Three").await.answer(), Some("5"));
    one.set_mode(Mode::Plan).await.unwrap();
    assert_eq!(other.mode().await, Ok(Mode::Plan));
    let saved = store.load("c").await.unwrap().unwrap();
    assert_eq!(store.last_change("c").await, Ok(Some((saved.version, saved.mark))));

    one.delete().await.unwrap();
    assert_eq!(store.last_change("c").await, Ok(None));
    assert!(other.history().await.unwrap().is_empty(), "a deletion applies to both");
    assert_eq!(other.say("Anew").await.answer(), Some("1"));
}

/// The page is served by one process, and the decision reaches another.
#[tokio::test]
async fn another_process_can_decide_about_pending_calls() {
    let folder = tempfile::tempdir().unwrap();
    let ((one, ran_by_one), (other, ran_by_other)) = (started(folder.path()).await, started(folder.path()).await);
    let (one, other) = (one.conversation("c"), other.conversation("c"));
    assert_eq!(other.say("Delete!").await.ending, RunEnding::Waiting(2));
    assert_eq!(one.say("Delete them now!").await.ending, RunEnding::Waiting(2));
    assert_eq!(other.pending_calls().await.unwrap().len(), 2);
    let first = token(&one, "a").await;
    assert_eq!(other.decide(first, Decision::Run).await.ending, RunEnding::Waiting(1));
    assert_eq!(one.resume().await.ending, RunEnding::Waiting(1));
    let second = token(&one, "b").await;
    let outcome = one.decide(second, Decision::Run).await;
    assert_eq!(outcome.answer(), Some("a is gone; 1; b is gone"));
    assert_eq!((ran_by_one.steps(), ran_by_other.steps()), (2, 2));
    assert_eq!(other.resume().await.answer(), outcome.answer());
}

/// A call that may still be approved is not reported as not run, because the model would repeat it.
#[tokio::test]
async fn a_call_that_another_process_asks_about_may_still_start() {
    let folder = tempfile::tempdir().unwrap();
    let ((one, gauge), (other, _)) = (started(folder.path()).await, started(folder.path()).await);
    let (one, other) = (one.conversation("c"), other.conversation("c"));
    let (asked, agreed) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let person = (asked.clone(), agreed.clone());
    let confirm = confirm::from_fn(move |_| {
        let (asked, agreed) = person.clone();
        async move {
            asked.add_permits(1);
            agreed.acquire().await.unwrap().forget();
            Decision::Run
        }
    });
    let run = tokio::spawn(one.say("Delete!").confirm(confirm).into_future());
    drop(asked.acquire_many(2).await.unwrap());

    let history = other.history().await.unwrap();
    let Message::Tools { results } = &history[2] else { panic!("{history:?}") };
    for at in [0, 2] {
        assert!(results[at].result.output.starts_with("The outcome of `thing.delete` is not known yet"), "{results:?}");
    }
    agreed.add_permits(2);
    assert_eq!(run.await.unwrap().answer(), Some("a is gone; 1; b is gone"));
    assert_eq!(gauge.steps(), 3, "it did start");
    assert_eq!(one.history().await, other.history().await);
}

/// Placeholders for missing results are not saved.
#[tokio::test]
async fn reading_during_a_run_of_another_process_does_not_disturb_it() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, store) = counting(&folder).await;
    let conversation = agent.conversation("c");
    let call = ModelCall::new("1", "work.steps", json!({"steps": 1}).to_string());
    let begun = [Message::user("Go"), Message::Assistant(AssistantMessage::new("", [call]))];
    store.save("c", ConversationChange::new(1, &begun)).await.unwrap();
    assert_valid(&conversation.history().await.unwrap());

    let result = CallResult::new("1", "work.steps", ToolResult::success("1".to_owned()));
    let ended = [Message::Tools { results: vec![result] }, Message::assistant("Done.")];
    store.save("c", ConversationChange::new(2, &ended).after(1, 2)).await.unwrap();
    assert_eq!(conversation.history().await.unwrap(), [begun.to_vec(), ended.to_vec()].concat());
    assert_eq!(conversation.resume().await.answer(), Some("Done."));
}
