//! A process that is killed in the middle of its calls: the next one looks up their outcomes in the journal.

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

use crate::approvals::{started, token};
use crate::support::{Gauge, assert_valid, builder, kinds};

/// The variable with the directory of the child process.
const FOLDER: &str = "TOOL_AGENT_FOLDER";

/// Calls a tool that ends, one that never does, and one that is queued behind them.
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

/// The child process.
#[tokio::test]
#[ignore = "run in a separate process, which is killed"]
async fn says_something_and_never_ends() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    with_journal(folder.as_ref()).await.conversation("c").say("Work!").await;
}

/// A child process that is killed on drop.
struct Doomed(Child);

impl Drop for Doomed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts a child and waits until it is in the middle of its second call.
async fn child(folder: &Path) -> Doomed {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crashes::says_something_and_never_ends", "--ignored"])
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
async fn the_journal_resolves_calls_of_a_killed_process() {
    let folder = tempfile::tempdir().unwrap();
    let child = child(folder.path()).await;
    // While it lives, its calls are still running, and calls that have not started may still start.
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
    assert_eq!(said[0], "3", "its result is recorded");
    assert!(said[1].starts_with("The outcome of `work.endless` is unknown"), "{said:?}");
    assert!(said[2].starts_with("`work.steps` was not run"), "{said:?}");
    assert_eq!(conversation.resume().await.answer(), Some("3"), "the model continues with that");
    assert_valid(&store(folder.path()).await.load("c").await.unwrap().unwrap().messages);
}

/// The control: a journal that does not outlive its process cannot prove that a call did not run.
#[tokio::test]
async fn a_lost_journal_proves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    drop(child(folder.path()).await);
    let gauge = Gauge::default();
    for tools in [builder(&gauge).journal(MemoryJournal::new()).build().unwrap(), builder(&gauge).build().unwrap()] {
        let history = agent(folder.path(), tools).await.conversation("c").history().await.unwrap();
        assert_eq!(kinds(&history[2]), [Some(ErrorKind::OutcomeUnknown); 3]);
    }
}

/// A journal that was created later, or another one, has no record of the calls.
#[tokio::test]
async fn another_journal_proves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    drop(child(folder.path()).await);
    let another = SqliteJournal::open(folder.path().join("another.db")).await.unwrap();
    let tools = builder(&Gauge::default()).journal(another).build().unwrap();
    let history = agent(folder.path(), tools).await.conversation("c").history().await.unwrap();
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::OutcomeUnknown); 3]);
}

/// The first process had no journal; the next one has.
#[tokio::test]
async fn a_call_without_a_journal_is_not_reported_as_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let gauge = Gauge::default();
    let tools = builder(&gauge).build().unwrap();
    let model = ScriptedModel::new([Reply::call("work.steps", json!({"steps": 3})), Reply::text("Done.")]);
    let agent = Agent::builder(model, tools).store(store(folder.path()).await).build();
    assert_eq!(agent.conversation("c").say("Work!").await.answer(), Some("Done."));
    assert_eq!(gauge.steps(), 3, "it has run");
    // As if the process had ended before it saved the result.
    let store = store(folder.path()).await;
    let saved = store.load("c").await.unwrap().unwrap();
    store.save("c", ConversationChange::new(1, &[]).after(saved.version, 2)).await.unwrap();

    let history = with_journal(folder.path()).await.conversation("c").history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::OutcomeUnknown)]);
}

/// The process ended after an approved call had run, while the history still says that it is pending.
#[tokio::test]
async fn an_approved_call_that_has_run_is_no_longer_pending() {
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
    assert_eq!(gauge.steps(), 0, "it does not run again");
}

/// The process ended after the calls had become pending, before that was saved.
#[tokio::test]
async fn pending_calls_are_found_again_after_a_crash() {
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
    assert_eq!(kinds(&history[2]), expected, "recorded results are used");
    let first = token(&conversation, "a").await;
    assert_eq!(conversation.decide(&first, Decision::Run).await.ending, RunEnding::Waiting(1));
    assert_eq!(gauge.steps(), 1);
    let second = token(&conversation, "b").await;
    conversation.delete().await.unwrap();
    let gone = conversation.decide(&second, Decision::Run).await;
    assert_eq!(gone.ending, RunEnding::NotWaiting(TokenError::Invalid));
    assert!(conversation.pending_calls().await.unwrap().is_empty());
}
