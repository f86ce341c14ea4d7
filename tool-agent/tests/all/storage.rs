//! Conversations in SQLite.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tool_agent::{
    Agent, AgentEvent, AgentUpdate, AssistantMessage, ConversationChange, ConversationStore, ConversationStoreError,
    Message, Mode, ModelCall, ModelError, Reply, RunEnding, SavedConversation, ScriptedModel, SqliteStore, StoreFuture,
};
use tool_runtime::{CancellationToken, ErrorKind};
use tool_sqlite::testing::{SmallDisk, on_small_disk};

use crate::cancellation::polled;
use crate::support::{assert_valid, kinds, three_calls, tools, until};

async fn store() -> (tempfile::TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("chats.db")).await.unwrap();
    (folder, store)
}

fn agent(store: impl ConversationStore) -> Agent {
    Agent::builder(ScriptedModel::from_fn(three_calls), tools().0).store(store).build()
}

#[tokio::test]
async fn a_conversation_continues_after_a_restart() {
    let (folder, store) = store().await;
    let first = agent(store.clone());
    let conversation = first.conversation("c");
    conversation.set_mode(Mode::PlanReading).await.unwrap();
    conversation.say("Work!").await;
    let before = conversation.history().await.unwrap();
    drop((first, conversation));
    store.close().await;
    let file = std::fs::read(folder.path().join("chats.db")).unwrap();
    assert_eq!((&file[68..72], file[63]), (&b"tlag"[..], 2), "every release recognizes the file by these");

    let store = SqliteStore::open(folder.path().join("chats.db")).await.unwrap();
    let second = agent(store.clone());
    let conversation = second.conversation("c");
    assert_eq!(conversation.history().await.unwrap(), before);
    assert_eq!(conversation.mode().await, Ok(Mode::PlanReading));
    assert_eq!(conversation.say("Again!").await.ending, RunEnding::Answered);
    let history = conversation.history().await.unwrap();
    assert_eq!((&history[..4], history.len()), (&before[..], 8));
    assert_valid(&history);

    let newest = store.newest(10).await.unwrap();
    assert_eq!((newest[0].id.as_str(), newest[0].messages), ("c", 8));
    assert_eq!(newest[0].first.as_deref(), Some("Work!"));
    conversation.delete().await.unwrap();
    assert!(conversation.history().await.unwrap().is_empty());
    assert!(!store.delete("c").await.unwrap());
    assert!(agent(store.clone()).conversation("c").history().await.unwrap().is_empty());
    assert_eq!(store.prune(Duration::ZERO).await, Ok(0));
}

/// A conversation in a plan mode stays there after a restart or an eviction.
#[tokio::test]
async fn a_mode_is_saved_at_once() {
    let (_folder, store) = store().await;
    let modes = |store: &SqliteStore| Agent::builder(ScriptedModel::new([]), tools().0).store(store.clone());
    let agent = modes(&store).max_idle_conversations(1).build();
    agent.conversation("c").set_mode(Mode::Plan).await.unwrap();
    (0..100).for_each(|number| drop(agent.conversation(number.to_string())));
    assert_eq!(agent.conversation("c").mode().await, Ok(Mode::Plan), "it was evicted meanwhile");
    let other = modes(&store).build();
    assert_eq!(other.conversation("c").mode().await, Ok(Mode::Plan), "another process");

    // The last writer wins, whatever another process has in memory.
    other.conversation("c").set_mode(Mode::PlanReading).await.unwrap();
    agent.conversation("c").set_mode(Mode::Build).await.unwrap();
    assert_eq!(modes(&store).build().conversation("c").mode().await, Ok(Mode::Build));

    other.conversation("d").set_mode(Mode::Plan).await.unwrap();
    other.conversation("d").delete().await.unwrap();
    assert_eq!(other.conversation("d").mode().await, Ok(Mode::Build), "it is deleted with the rest");
    agent.conversation("e").set_mode(Mode::Build).await.unwrap();
    assert_eq!(store.load("e").await, Ok(None), "an unchanged mode is not saved");
}

/// If a run is past its last turn when the mode is set, the mode is saved by the run or after it.
#[tokio::test]
async fn a_mode_that_is_set_at_any_point_of_a_run_is_saved() {
    for times in 0.. {
        assert!(times < 2_000, "it never ends");
        let (_folder, store) = store().await;
        let agent = agent(store.clone());
        let conversation = agent.conversation("c");
        let mut run = conversation.say("Work!").into_future();
        let done = polled(times, 0, &mut run).await;
        conversation.set_mode(Mode::Plan).await.unwrap();
        if done.is_none() {
            run.await;
        }
        let mut looks = 0..1_000;
        while store.load("c").await.unwrap().is_none_or(|saved| saved.mode != Mode::Plan) {
            assert!(looks.next().is_some(), "it is not kept after {times} polls");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(conversation.mode().await, Ok(Mode::Plan));
        if done.is_some() {
            break;
        }
    }
}

/// The process ended while calls were running.
#[tokio::test]
async fn calls_that_a_crash_left_open_get_results() {
    let (_folder, store) = store().await;
    let calls = vec![ModelCall::new("1", "work.steps", r#"{"steps": 1}"#), ModelCall::new("2", "work.fail", "{}")];
    let crashed = [Message::user("Go"), Message::Assistant(AssistantMessage::new("", calls))];
    store.save("c", ConversationChange::new(1, &crashed)).await.unwrap();

    let agent = agent(store);
    let conversation = agent.conversation("c");
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::OutcomeUnknown); 2]);
    assert!(conversation.resume().await.text.contains("The outcome of `work.steps` is unknown"));
    assert_eq!(conversation.say("Again").await.ending, RunEnding::Answered);
    assert_valid(&conversation.history().await.unwrap());
}

#[tokio::test]
async fn concurrent_writers_do_not_overwrite_each_other() {
    let (_folder, store) = store().await;
    let (tools, gauge) = tools();
    let model = [Reply::text("Hello."), Reply::call("work.endless", json!({})), Reply::text("Yes.")];
    let one = Agent::builder(ScriptedModel::new(model), tools).store(store.clone()).build();
    let (one, other) = (one.conversation("c"), agent(store).conversation("c"));
    assert_eq!(one.say("One").await.ending, RunEnding::Answered);
    assert_eq!(other.say("Two").await.ending, RunEnding::Answered);
    let stop = CancellationToken::new();
    let run = tokio::spawn(one.say("Three").cancel(stop.clone()).into_future());
    until("the call", || gauge.running() == 1).await;
    assert_eq!(other.say("Four").await.ending, RunEnding::Answered, "in the middle of the first one's run");
    stop.cancel();
    let RunEnding::NotKept(error) = run.await.unwrap().ending else { panic!("it does not know of the other") };
    assert!(error.is_conflict(), "{error}");
    assert_eq!(one.say("Five").await.ending, RunEnding::Answered, "it was loaded again");
    let said: Vec<String> = one
        .history()
        .await
        .unwrap()
        .iter()
        .filter_map(|message| match message {
            Message::User { text } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["One", "Two", "Three", "Four", "Five"]);
}

#[tokio::test]
async fn a_file_of_another_program_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    tool_journal::SqliteJournal::open(&path).await.unwrap().close().await;
    let before = std::fs::read(&path).unwrap();
    let error = SqliteStore::open(&path).await.unwrap_err();
    assert!(error.to_string().contains("none of conversations"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    std::fs::write(folder.path().join("text"), "no database at all, but long enough to be looked at".repeat(50))
        .unwrap();
    assert!(SqliteStore::open(folder.path().join("text")).await.is_err());
    let error = SqliteStore::open(folder.path().join("none/chats.db")).await.unwrap_err();
    assert!(error.to_string().contains("its directory must exist"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn other_users_cannot_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, store) = store().await;
    agent(store).conversation("c").say("Secret").await;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", file.path());
    }
}

#[tokio::test]
async fn deleted_content_is_not_in_the_files_any_more() {
    let (folder, store) = store().await;
    let holds = |needle: &str| {
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
        files.into_iter().any(|file| file.windows(needle.len()).any(|window| window == needle.as_bytes()))
    };
    let long = format!("{} the end of a long text", "x".repeat(10_000));
    agent(store.clone()).conversation("stays").say("what stays").await;
    agent(store.clone()).conversation("goes").say("the first secret").await;
    agent(store.clone()).conversation("goes").say(long).await;
    store.close().await;
    assert!(holds("the first secret") && holds("the end of a long text"), "the control");

    let store = SqliteStore::open(folder.path().join("chats.db")).await.unwrap();
    agent(store.clone()).conversation("goes").delete().await.unwrap();
    store.close().await;
    assert!(holds("what stays"));
    assert!(!holds("the first secret") && !holds("the end of a long text"));
}

/// A store that can be made to fail.
#[derive(Clone)]
struct Fragile(SqliteStore, Arc<AtomicBool>);

impl ConversationStore for Fragile {
    fn load<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Option<SavedConversation>> {
        self.0.load(conversation)
    }

    fn save<'a>(&'a self, conversation: &'a str, change: ConversationChange<'a>) -> StoreFuture<'a, ()> {
        // The user's message is saved, but not the model's response.
        let fails = self.1.load(Ordering::SeqCst) && change.keep > 0;
        match fails {
            true => Box::pin(async { Err(ConversationStoreError::new("the disk is full")) }),
            false => self.0.save(conversation, change),
        }
    }

    fn delete<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, bool> {
        self.0.delete(conversation)
    }
}

#[tokio::test]
async fn calls_that_cannot_be_saved_do_not_run() {
    let (_folder, store) = store().await;
    let broken = Arc::new(AtomicBool::new(true));
    let (tools, gauge) = tools();
    let model = ScriptedModel::from_fn(three_calls);
    let agent = Agent::builder(model, tools).store(Fragile(store.clone(), broken.clone())).build();
    let conversation = agent.conversation("c");
    let outcome = conversation.say("Work!").await;
    assert_eq!(outcome.ending, RunEnding::NotKept(ConversationStoreError::new("the disk is full")));
    assert_eq!(gauge.steps(), 0);
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    let Message::Tools { results } = &history[2] else { panic!("{history:?}") };
    assert!(results[0].result.output.starts_with("`work.steps` was not run"), "{results:?}");
    broken.store(false, Ordering::SeqCst);
    assert_eq!(conversation.say("And now?").await.ending, RunEnding::Answered);
    let kept = self::agent(store).conversation("c").history().await.unwrap();
    assert_eq!(kept, conversation.history().await.unwrap());
    assert_valid(&kept);
}

#[tokio::test]
async fn a_message_that_cannot_be_saved_is_not_in_the_conversation() {
    let (_folder, store) = store().await;
    let broken = Arc::new(AtomicBool::new(false));
    let agent = agent(Fragile(store.clone(), broken.clone()));
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("One").await.ending, RunEnding::Answered);
    let before = conversation.history().await.unwrap();
    broken.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        let outcome = conversation.say("Two").await;
        assert_eq!(outcome.ending, RunEnding::NotKept(ConversationStoreError::new("the disk is full")));
        assert_eq!(conversation.history().await.unwrap(), before);
    }
    broken.store(false, Ordering::SeqCst);
    assert_eq!(conversation.say("Two").await.ending, RunEnding::Answered);
    let history = conversation.history().await.unwrap();
    assert_eq!(history.iter().filter(|message| **message == Message::user("Two")).count(), 1, "{history:?}");
    assert_eq!(store.load("c").await.unwrap().unwrap().messages, history);
}

/// A writer with an unconfirmed save does not take another writer's change for its own.
#[tokio::test]
async fn an_unconfirmed_save_does_not_overwrite_another_writer() {
    let (_folder, store) = store().await;
    let broken = Arc::new(AtomicBool::new(true));
    let agent = agent(Fragile(store.clone(), broken.clone()));
    let conversation = agent.conversation("c");
    assert_eq!(
        conversation.say("One").await.ending,
        RunEnding::NotKept(ConversationStoreError::new("the disk is full"))
    );
    let theirs = [Message::assistant("Hello."), Message::user("Two")];
    let version = store.load("c").await.unwrap().unwrap().version;
    store.save("c", ConversationChange::new(1, &theirs).after(version, 1)).await.unwrap();
    broken.store(false, Ordering::SeqCst);
    let RunEnding::NotKept(error) = conversation.say("Three").await.ending else {
        panic!("it has overwritten the other")
    };
    assert!(error.is_conflict(), "{error}");
    let kept = store.load("c").await.unwrap().unwrap().messages;
    assert_eq!(kept[1..], theirs);
    assert_eq!(conversation.say("Four").await.ending, RunEnding::Answered, "it was loaded again");
    assert_eq!(conversation.history().await.unwrap()[1..3], theirs);
}

/// Idle conversations are evicted and loaded again.
#[tokio::test]
async fn evicted_conversations_are_loaded_again() {
    let (_folder, store) = store().await;
    let model = ScriptedModel::from_fn(|request| Reply::text(request.messages.len().to_string()));
    let agent = Agent::builder(model, tools().0).store(store).max_idle_conversations(2).build();
    for round in [1, 3] {
        for id in 0..40 {
            let outcome = agent.conversation(format!("c{id}")).say("Hello").await;
            assert_eq!(outcome.text, round.to_string());
        }
    }
}

#[tokio::test]
async fn a_response_that_resume_removes_is_removed_from_the_store() {
    let (_folder, store) = store().await;
    let replies = [Reply::text("half an ans").and_error(ModelError::cut()), Reply::error(ModelError::rejected("no"))];
    let agent = Agent::builder(ScriptedModel::new(replies), tools().0).store(store.clone()).build();
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("Go").await.ending, RunEnding::Failed(ModelError::cut()));
    assert_eq!(store.load("c").await.unwrap().unwrap().messages.len(), 2, "the partial response is saved");
    assert_eq!(conversation.resume().await.ending, RunEnding::Failed(ModelError::rejected("no")));
    let stored = store.load("c").await.unwrap().unwrap().messages;
    assert_eq!(stored, conversation.history().await.unwrap());
    assert_eq!(stored, [Message::user("Go")]);
}

#[test]
fn conversations_are_saved_again_once_the_disk_has_space() {
    on_small_disk("storage::fills_the_disk", 4);
}

#[tokio::test]
#[ignore = "a process that another test starts"]
async fn fills_the_disk() {
    let Some(disk) = SmallDisk::mounted() else { return };
    let store = SqliteStore::open(disk.path().join("chats.db")).await.unwrap();
    let agent = Agent::builder(ScriptedModel::from_fn(|_| Reply::text("Yes.")), tools().0).store(store.clone()).build();
    let conversation = agent.conversation("c");
    let long = "x".repeat(100_000);
    let say = async || {
        let run = conversation.say(long.clone());
        let mut events = run.events();
        let ending = run.await.ending;
        let received = std::iter::from_fn(|| events.try_next()).filter_map(AgentUpdate::into_event);
        (ending, received.filter(|event| *event == AgentEvent::Kept).count())
    };
    assert_eq!(say().await, (RunEnding::Answered, 1));
    disk.fill();
    for _ in 0..3 {
        let (ending, kept) = say().await;
        assert!(matches!(&ending, RunEnding::NotKept(error) if error.to_string().contains("full")), "{ending:?}");
        assert_eq!(kept, 0, "an interface can tell");
    }
    disk.free();
    assert_eq!(say().await, (RunEnding::Answered, 1));
    let saved = store.load("c").await.unwrap().unwrap();
    assert_eq!(saved.messages, conversation.history().await.unwrap());
    store.close().await;
}
