//! The conversations and the actions of the user.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tool_agent::{
    Agent, ConversationStore, ConversationStoreError, ConversationSummary, Message, Mode, Run, SqliteStore,
};
use tool_runtime::ToolResult;
use tool_runtime::confirm::{Decision, PendingApproval, PendingCall, TokenError};

use super::chat_error::{ChatError, EditedArgumentsError, RunInProgress};
use super::live::LiveRun;
use super::record::record;
use super::runs::Runs;

/// Maximum number of listed conversations.
const LISTED: u32 = 50;

/// The conversations with one agent. Cheap to clone.
#[derive(Clone)]
pub struct Chats {
    agent: Agent,
    pub(super) store: SqliteStore,
    runs: Arc<Mutex<Runs>>,
}

/// The initial content of a conversation's page.
pub(super) struct ConversationView {
    /// The messages before the current run.
    pub(super) messages: Vec<Message>,
    pub(super) mode: Mode,
    /// The current run.
    pub(super) run: Option<u64>,
    /// The pending calls.
    pub(super) waiting: Vec<(PendingApproval, PendingCall)>,
}

impl Chats {
    /// Creates the conversations of an agent that stores them in `store`.
    #[must_use]
    pub fn new(agent: Agent, store: SqliteStore) -> Self {
        Self { agent, store, runs: Arc::new(Mutex::new(Runs::new())) }
    }

    pub(super) fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists conversations with messages, newest first.
    pub(super) async fn recent(&self) -> Result<Vec<ConversationSummary>, ConversationStoreError> {
        let mut recent = self.store.newest(LISTED).await?;
        // Skip conversations of which only the mode was set.
        recent.retain(|one| one.messages > 0);
        Ok(recent)
    }

    pub(super) async fn view(&self, id: &str) -> Result<ConversationView, ConversationStoreError> {
        // Look up the run first: if it ends in the meantime, the page learns that from the events.
        let first = self.runs().get(id);
        let waiting = self.waiting(id).await.unwrap_or_default();
        let saved = self.store.load(id).await?.unwrap_or_default();
        // Read the messages last: those of a run that began in the meantime are not shown twice.
        let (live, set) = {
            let runs = self.runs();
            (runs.get(id), runs.mode(id))
        };
        let mut messages = saved.messages;
        if let Some(live) = &live {
            messages.truncate(live.before(messages.len()));
        }
        let run = first.or(live).map(|live| live.number);
        Ok(ConversationView { messages, mode: set.unwrap_or(saved.mode), run, waiting })
    }

    /// Returns the pending calls.
    pub(super) async fn waiting(&self, id: &str) -> Result<Vec<(PendingApproval, PendingCall)>, TokenError> {
        self.agent.conversation(id).pending_calls().await
    }

    /// Returns the result of a call.
    pub(super) async fn result(&self, id: &str, call: &str) -> Result<Option<ToolResult>, ConversationStoreError> {
        let messages = self.agent.conversation(id).history_so_far().await?;
        let mut results = messages.into_iter().rev().filter_map(|message| match message {
            Message::Tools { results } => Some(results),
            _ => None,
        });
        Ok(results.find_map(|results| results.into_iter().find(|one| one.id == call)).map(|one| one.result))
    }

    /// Sends a message of the user. It is stored when this returns; the response arrives in the current run.
    pub(super) async fn say(&self, id: &str, text: String) -> Result<(), ChatError> {
        let said = text.clone();
        self.begin(id, Some(&text), |agent| agent.conversation(id).say(said)).await
    }

    pub(super) async fn decide(&self, id: &str, token: String, decision: Decision) -> Result<(), ChatError> {
        // The run that asks may still be ending when the user decides.
        let asking = self.runs().get(id).filter(|live| live.has_asked(&token));
        if let Some(asking) = asking {
            asking.over.cancelled().await;
        }
        self.begin(id, None, |agent| agent.conversation(id).decide(token, decision)).await
    }

    /// Parses the arguments of a pending call that the user has edited.
    pub(super) async fn edited(
        &self,
        id: &str,
        token: &str,
        text: Option<&str>,
    ) -> Result<Value, EditedArgumentsError> {
        let waiting = self.waiting(id).await.unwrap_or_default();
        let call = waiting.iter().find(|(pending, _)| pending.token.as_str() == token);
        let (_, call) = call.ok_or(EditedArgumentsError::NotWaiting)?;
        call.question.edited(text.unwrap_or_default()).map_err(EditedArgumentsError::Unreadable)
    }

    /// Begins a run, which continues without subscribers. Its first message is stored when this returns.
    async fn begin(&self, id: &str, said: Option<&str>, run: impl FnOnce(&Agent) -> Run) -> Result<(), ChatError> {
        let live = self.runs().begin(id).ok_or(RunInProgress)?;
        let over = LiveRunGuard { chats: self.clone(), id: id.to_owned(), live };
        // Count only now, since no other run can add messages.
        over.live.begin(self.kept(id).await, said);
        let run = run(&self.agent).cancel(over.live.cancel.clone()).channel("console", id);
        let (conversation, live) = (self.agent.conversation(id), over.live.clone());
        tokio::spawn(async move { record(conversation, run, &over).await });
        live.until_taken().await.map_err(|error| ChatError::failed(&error))
    }

    /// Returns the number of stored messages.
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

    /// Stops the current run. Returns `false` if there is none.
    pub(super) fn stop(&self, id: &str) -> bool {
        let live = self.runs().get(id);
        live.inspect(|live| live.cancel.cancel()).is_some()
    }

    /// Deletes the messages and stops the current run. The calls stay in the journal.
    pub(super) async fn delete(&self, id: &str) -> Result<(), ConversationStoreError> {
        self.stop(id);
        self.agent.conversation(id).delete().await?;
        let mut runs = self.runs();
        runs.forget_mode(id);
        runs.tell(id, &json!({"kind": "deleted"}));
        Ok(())
    }
}

/// Removes a run when it is dropped, even if it panicked, so that the conversation can continue.
pub(super) struct LiveRunGuard {
    chats: Chats,
    id: String,
    pub(super) live: Arc<LiveRun>,
}

impl LiveRunGuard {
    /// Returns the current number of messages.
    pub(super) async fn messages(&self) -> usize {
        self.chats.kept(&self.id).await
    }
}

impl Drop for LiveRunGuard {
    fn drop(&mut self) {
        self.chats.runs().end(&self.id, &self.live);
        self.live.over.cancel();
    }
}
