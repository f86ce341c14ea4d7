//! The conversations, and what a person can do in them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tool_agent::{
    Agent, ConversationStore, ConversationStoreError, ConversationSummary, Message, Mode, Run, SqliteStore,
};
use tool_runtime::ToolResult;
use tool_runtime::confirm::{Decision, PendingApproval, PendingCall, TokenError};

use super::live::Live;
use super::record::record;
use super::refused::{Busy, Refused, WrongEdit};
use super::runs::Runs;

/// How many conversations are listed.
const LISTED: u32 = 50;

/// The conversations that are held with one agent. Cheap to clone.
#[derive(Clone)]
pub struct Chats {
    agent: Agent,
    pub(super) store: SqliteStore,
    runs: Arc<Mutex<Runs>>,
}

/// A conversation as a page shows it first.
pub(super) struct View {
    /// What was said before the run that goes on.
    pub(super) messages: Vec<Message>,
    pub(super) mode: Mode,
    /// The run that goes on.
    pub(super) run: Option<u64>,
    /// The calls that wait for a person.
    pub(super) waiting: Vec<(PendingApproval, PendingCall)>,
}

impl Chats {
    /// The conversations of an agent that keeps them in this store.
    #[must_use]
    pub fn new(agent: Agent, store: SqliteStore) -> Self {
        Self { agent, store, runs: Arc::new(Mutex::new(Runs::new())) }
    }

    pub(super) fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those in which something was said, the newest first.
    pub(super) async fn recent(&self) -> Result<Vec<ConversationSummary>, ConversationStoreError> {
        let mut recent = self.store.newest(LISTED).await?;
        // One of which only the mode was set.
        recent.retain(|one| one.messages > 0);
        Ok(recent)
    }

    pub(super) async fn view(&self, id: &str) -> Result<View, ConversationStoreError> {
        // Looked up first as well: if that run ends meanwhile, the page learns from the events that it is over.
        let first = self.runs().get(id);
        let waiting = self.waiting(id).await.unwrap_or_default();
        let saved = self.store.load(id).await?.unwrap_or_default();
        // Looked up last: what a run has said that began meanwhile is not shown twice.
        let (live, set) = {
            let runs = self.runs();
            (runs.get(id), runs.mode(id))
        };
        let mut messages = saved.messages;
        if let Some(live) = &live {
            messages.truncate(live.before(messages.len()));
        }
        let run = first.or(live).map(|live| live.number);
        Ok(View { messages, mode: set.unwrap_or(saved.mode), run, waiting })
    }

    /// The calls that wait for a person.
    pub(super) async fn waiting(&self, id: &str) -> Result<Vec<(PendingApproval, PendingCall)>, TokenError> {
        self.agent.conversation(id).pending_calls().await
    }

    /// What came of a call.
    pub(super) async fn result(&self, id: &str, call: &str) -> Result<Option<ToolResult>, ConversationStoreError> {
        let messages = self.agent.conversation(id).history_so_far().await?;
        let mut results = messages.into_iter().rev().filter_map(|message| match message {
            Message::Tools { results } => Some(results),
            _ => None,
        });
        Ok(results.find_map(|results| results.into_iter().find(|one| one.id == call)).map(|one| one.result))
    }

    /// Says something. It is kept when this returns; the answer comes in the run that goes on.
    pub(super) async fn say(&self, id: &str, text: String) -> Result<(), Refused> {
        let said = text.clone();
        self.begin(id, Some(&text), |agent| agent.conversation(id).say(said)).await
    }

    pub(super) async fn decide(&self, id: &str, token: String, decision: Decision) -> Result<(), Refused> {
        // The run that asks is not over yet when a person reads the question, and some are quick.
        let asking = self.runs().get(id).filter(|live| live.has_asked(&token));
        if let Some(asking) = asking {
            asking.over.cancelled().await;
        }
        self.begin(id, None, |agent| agent.conversation(id).decide(token, decision)).await
    }

    /// The arguments of a call that waits, as a person has changed them.
    pub(super) async fn edited(&self, id: &str, token: &str, text: Option<&str>) -> Result<Value, WrongEdit> {
        let waiting = self.waiting(id).await.unwrap_or_default();
        let call = waiting.iter().find(|(pending, _)| pending.token.as_str() == token);
        let (_, call) = call.ok_or(WrongEdit::NotWaiting)?;
        call.question.edited(text.unwrap_or_default()).map_err(WrongEdit::Unreadable)
    }

    /// Begins a run, which goes on without anybody watching. What it begins with is kept when this returns.
    async fn begin(&self, id: &str, said: Option<&str>, run: impl FnOnce(&Agent) -> Run) -> Result<(), Refused> {
        let live = self.runs().begin(id).ok_or(Busy)?;
        let over = Over { chats: self.clone(), id: id.to_owned(), live };
        // Only now: no other run adds to them.
        over.live.begin(self.kept(id).await, said);
        let run = run(&self.agent).cancel(over.live.cancel.clone()).channel("console", id);
        let (conversation, live) = (self.agent.conversation(id), over.live.clone());
        tokio::spawn(async move { record(conversation, run, &over).await });
        live.until_taken().await.map_err(|error| Refused::failed(&error))
    }

    /// How many messages of a conversation are kept.
    async fn kept(&self, id: &str) -> usize {
        self.store.load(id).await.ok().flatten().map_or(0, |saved| saved.messages.len())
    }

    pub(super) async fn set_mode(&self, id: &str, mode: Mode) -> Result<(), ConversationStoreError> {
        self.agent.conversation(id).set_mode(mode).await?;
        let mut runs = self.runs();
        runs.set_mode(id, mode);
        runs.tell(id, &json!({"kind": "mode", "mode": mode}));
        Ok(())
    }

    /// Stops the run that goes on; false if there is none.
    pub(super) fn stop(&self, id: &str) -> bool {
        let live = self.runs().get(id);
        live.inspect(|live| live.cancel.cancel()).is_some()
    }

    /// Forgets what was said, and stops what goes on. What was done is on record in the journal.
    pub(super) async fn delete(&self, id: &str) -> Result<(), ConversationStoreError> {
        self.stop(id);
        self.agent.conversation(id).delete().await?;
        let mut runs = self.runs();
        runs.forget_mode(id);
        runs.tell(id, &json!({"kind": "deleted"}));
        Ok(())
    }
}

/// Takes a run out of those that go on when it is over, also if it panics, so that the conversation can go on.
pub(super) struct Over {
    chats: Chats,
    id: String,
    pub(super) live: Arc<Live>,
}

impl Over {
    /// How many messages its conversation has now.
    pub(super) async fn messages(&self) -> usize {
        self.chats.kept(&self.id).await
    }
}

impl Drop for Over {
    fn drop(&mut self) {
        self.chats.runs().end(&self.id, &self.live);
        self.live.over.cancel();
    }
}
