//! Recovery after a crash that is itself stopped at every await point.

use serde_json::json;
use tool_agent::{
    Agent, AssistantMessage, Conversation, ConversationChange, ConversationStore, Message, ModelCall, Reply, RunEnding,
    ScriptedModel, SqliteStore,
};
use tool_journal::SqliteJournal;
use tool_runtime::confirm::Deferred;

use crate::cancellation::polled;
use crate::support::{Gauge, assert_valid, builder, flaw};

/// The operation that is stopped.
#[derive(Clone, Copy, Debug)]
enum Begun {
    Say,
    Resume,
    History,
}

impl Begun {
    /// Returns `true` if it finished before it was stopped.
    async fn stop(self, times: usize, conversation: &Conversation) -> bool {
        match self {
            Self::Say => polled(times, 0, conversation.say("And now?").into_future()).await.is_some(),
            Self::Resume => polled(times, 0, conversation.resume().into_future()).await.is_some(),
            Self::History => polled(times, 0, conversation.history()).await.is_some(),
        }
    }
}

/// Returns the history of a process that was killed in its calls.
fn left(round: usize) -> Vec<Message> {
    let calls =
        ["a", "b"].map(|id| ModelCall::new(format!("{id}{round}"), "work.steps", json!({"steps": 1}).to_string()));
    vec![Message::user("Work!"), Message::Assistant(AssistantMessage::new("", calls))]
}

#[tokio::test]
async fn open_calls_are_resolved_even_if_recovery_is_stopped_at_any_point() {
    for (is_deferred, begun) in [false, true]
        .into_iter()
        .flat_map(|is_deferred| [Begun::Say, Begun::Resume, Begun::History].map(|begun| (is_deferred, begun)))
    {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path().join("calls.db")).await.unwrap();
        let store = SqliteStore::open(folder.path().join("chats.db")).await.unwrap();
        let tools = builder(&Gauge::default()).journal(journal.clone()).build().unwrap();
        let agent = Agent::builder(ScriptedModel::from_fn(|_| Reply::text("Yes.")), tools).store(store.clone());
        let agent = match is_deferred {
            true => agent.deferred(Deferred::new([7; 32]).store(journal)).build(),
            false => agent.build(),
        };
        for times in 0.. {
            assert!(times < 1_000, "it never ends");
            let left = left(times);
            assert!(flaw(&left).is_some(), "the control");
            let conversation = agent.conversation(format!("{times}"));
            store.save(conversation.id(), ConversationChange::new(1, &left)).await.unwrap();
            let is_done = begun.stop(times, &conversation).await;
            assert_valid(&conversation.history().await.unwrap());
            assert_eq!(conversation.say("Go on.").await.ending, RunEnding::Answered, "{begun:?} after {times} polls");
            let history = conversation.history().await.unwrap();
            assert_valid(&history);
            assert_eq!(store.load(conversation.id()).await.unwrap().unwrap().messages, history);
            if is_done {
                break;
            }
        }
    }
}
