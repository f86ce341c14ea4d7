//! A process that is killed in the middle of its calls: the next one asks the record of calls what became of them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tool_agent::{
    Agent, ConversationChange, ConversationStore, Message, ModelRequest, Reply, RunEnding, ScriptedModel, SqliteStore,
};
use tool_journal::SqliteJournal;
use tool_runtime::confirm::{Decision, TokenError};
use tool_runtime::journal::{EntryQuery, EntryState, Journal, MemoryJournal};
use tool_runtime::{Dispatcher, ErrorKind};

use crate::consent::{started, token};
use crate::support::{Gauge, assert_valid, builder, kinds};

/// Where the child finds its files.
const FOLDER: &str = "TOOL_AGENT_FOLDER";

/// Calls a tool that ends, one that never does, and one that waits for its place behind them.
fn stuck(request: ModelRequest<'_>) -> Reply {
    match request.messages.last() {
        Some(Message::Tools { results }) => Reply::text(&results[0].result.output),
        _ => Reply::call("work.steps", json!({"steps": 3}))
            .and_call("work.endless", json!({}))
            .and_call("work.steps", json!({"steps": 4})),
    }
}

async fn store(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder.join("chats.db")).await.unwrap()
}

async fn journal(folder: &Path) -> SqliteJournal {
    SqliteJournal::open(folder.join("calls.db")).await.unwrap()
}

async fn agent(folder: &Path, tools: Dispatcher) -> Agent {
    let store = store(folder).await;
    Agent::builder(ScriptedModel::from_fn(stuck), tools).store(store).concurrency(NonZeroUsize::MIN).build()
}

async fn with_journal(folder: &Path) -> Agent {
    agent(folder, builder(&Gauge::default()).journal(journal(folder).await).build().unwrap()).await
}

/// What the child does.
#[tokio::test]
#[ignore = "for a process of its own, which is killed"]
async fn says_something_and_never_ends() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    with_journal(folder.as_ref()).await.conversation("c").say("Work!").await;
}

/// A process that is killed when this is dropped, whatever becomes of the test.
struct Doomed(Child);

impl Drop for Doomed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A child that is in the middle of its second call.
async fn child(folder: &Path) -> Doomed {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crashed::says_something_and_never_ends", "--ignored"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn();
    let child = Doomed(child.unwrap());
    let journal = journal(folder).await;
    let mut looks = 0..3_000;
    loop {
        let entries = journal.entries(EntryQuery::newest(10)).await.unwrap();
        if let [endless, steps] = entries.as_slice()
            && (&endless.state, &*endless.tool) == (&EntryState::Running, "work.endless")
        {
            assert!(matches!(steps.state, EntryState::Finished(_)), "{steps:?}");
            return child;
        }
        assert!(looks.next().is_some(), "the child does not get there: {entries:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn outputs(message: &Message) -> Vec<&str> {
    let Message::Tools { results } = message else { panic!("no results: {message:?}") };
    results.iter().map(|result| result.result.output.as_str()).collect()
}

#[tokio::test]
async fn the_record_says_what_became_of_calls_that_a_killed_process_has_left() {
    let folder = tempfile::tempdir().unwrap();
    let child = child(folder.path()).await;
    // While it lives, what it runs is not over, and what has not begun may still begin.
    let history = with_journal(folder.path()).await.conversation("c").history().await.unwrap();
    assert_eq!(kinds(&history[2]), [None, Some(ErrorKind::OutcomeUnknown), Some(ErrorKind::OutcomeUnknown)]);
    assert!(outputs(&history[2])[1].contains("another process is running it"), "{history:?}");
    drop(child);
    let left = store(folder.path()).await.load("c").await.unwrap().unwrap().messages;
    assert_eq!(left.len(), 2, "the calls have no results: {left:?}");

    let agent = with_journal(folder.path()).await;
    let conversation = agent.conversation("c");
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [None, Some(ErrorKind::OutcomeUnknown), Some(ErrorKind::Cancelled)]);
    let said = outputs(&history[2]);
    assert_eq!(said[0], "3", "what it answered is on record");
    assert!(said[1].starts_with("The outcome of `work.endless` is unknown"), "{said:?}");
    assert!(said[2].starts_with("`work.steps` was not run"), "{said:?}");
    assert_eq!(conversation.resume().await.answer(), Some("3"), "the model goes on with that");
    assert_valid(&store(folder.path()).await.load("c").await.unwrap().unwrap().messages);
}

/// The control: a record that does not outlive its process says of no call that it did not run.
#[tokio::test]
async fn a_record_that_is_forgotten_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    drop(child(folder.path()).await);
    let gauge = Gauge::default();
    for tools in [builder(&gauge).journal(MemoryJournal::new()).build().unwrap(), builder(&gauge).build().unwrap()] {
        let history = agent(folder.path(), tools).await.conversation("c").history().await.unwrap();
        assert_eq!(kinds(&history[2]), [Some(ErrorKind::OutcomeUnknown); 3]);
    }
}

/// A record that was begun since, or beside, does not know of what it was not there for.
#[tokio::test]
async fn another_record_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    drop(child(folder.path()).await);
    let another = SqliteJournal::open(folder.path().join("another.db")).await.unwrap();
    let tools = builder(&Gauge::default()).journal(another).build().unwrap();
    let history = agent(folder.path(), tools).await.conversation("c").history().await.unwrap();
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::OutcomeUnknown); 3]);
}

/// The process had no record of its calls; the next one has.
#[tokio::test]
async fn what_ran_without_a_record_is_not_said_not_to_have_run() {
    let folder = tempfile::tempdir().unwrap();
    let gauge = Gauge::default();
    let tools = builder(&gauge).build().unwrap();
    let model = ScriptedModel::new([Reply::call("work.steps", json!({"steps": 3})), Reply::text("Done.")]);
    let agent = Agent::builder(model, tools).store(store(folder.path()).await).build();
    assert_eq!(agent.conversation("c").say("Work!").await.answer(), Some("Done."));
    assert_eq!(gauge.steps(), 3, "it has run");
    // As if it had ended before it could write down what came of the call.
    let store = store(folder.path()).await;
    let saved = store.load("c").await.unwrap().unwrap();
    store.save("c", ConversationChange::new(1, &[]).after(saved.version, 2)).await.unwrap();

    let history = with_journal(folder.path()).await.conversation("c").history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::OutcomeUnknown)]);
}

/// The process ended when a call that somebody had agreed to had run, and the history still says that it waits.
#[tokio::test]
async fn what_was_agreed_to_and_has_run_waits_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, gauge) = started(folder.path()).await;
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("Delete!").await.ending, RunEnding::Waiting(2));
    let store = store(folder.path()).await;
    let before = store.load("c").await.unwrap().unwrap();
    let first = token(&conversation, "a").await;
    assert_eq!(conversation.decide(&first, Decision::Run).await.ending, RunEnding::Waiting(1));
    assert_eq!(gauge.steps(), 2, "it has run once");
    let after = store.load("c").await.unwrap().unwrap();
    store.save("c", ConversationChange::new(1, &before.messages[2..]).after(after.version, 2)).await.unwrap();
    drop((agent, conversation));

    let (agent, gauge) = started(folder.path()).await;
    let history = agent.conversation("c").history().await.unwrap();
    assert_eq!(kinds(&history[2]), [None, None, Some(ErrorKind::Pending)]);
    assert_eq!(outputs(&history[2])[..2], ["a is gone", "1"]);
    assert_eq!(gauge.steps(), 0, "and does not run again");
}

/// The process ended when the calls had begun to wait, and nobody had written that down yet.
#[tokio::test]
async fn what_waits_is_found_again_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, _) = started(folder.path()).await;
    agent.conversation("c").say("Delete!").await;
    drop(agent);
    let store = store(folder.path()).await;
    let saved = store.load("c").await.unwrap().unwrap();
    store.save("c", ConversationChange::new(1, &[]).after(saved.version, 2)).await.unwrap();

    let (agent, gauge) = started(folder.path()).await;
    let conversation = agent.conversation("c");
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    let expected = [Some(ErrorKind::Pending), None, Some(ErrorKind::Pending)];
    assert_eq!(kinds(&history[2]), expected, "what is on record is the result");
    let first = token(&conversation, "a").await;
    assert_eq!(conversation.decide(&first, Decision::Run).await.ending, RunEnding::Waiting(1));
    assert_eq!(gauge.steps(), 1);
    let second = token(&conversation, "b").await;
    conversation.delete().await.unwrap();
    let gone = conversation.decide(&second, Decision::Run).await;
    assert_eq!(gone.ending, RunEnding::NotWaiting(TokenError::Invalid));
    assert!(conversation.pending_calls().await.unwrap().is_empty());
}
