//! History of a conversation and its synchronization with the store.

use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use tool_runtime::confirm::{Deferred, PendingApproval, PendingCall, TokenError};
use tool_runtime::{Dispatcher, ToolResult};

use super::ConversationShared;
use crate::agent::AgentInner;
use crate::history;
use crate::store::{ConversationChange, ConversationStore, ConversationStoreError, SavedConversation};
use crate::{CallResult, Message, Mode};

/// The maximum number of remembered unconfirmed saves. They are sequential and rarely many.
const MAX_UNCONFIRMED: usize = 16;

/// The history and mode of a conversation, and what is known about the stored copy.
#[derive(Default)]
pub(crate) struct ConversationState {
    pub(crate) history: Vec<Message>,
    pub(crate) mode: Mode,
    /// Set if the stored conversation was loaded.
    is_loaded: bool,
    /// The stored version and the mark of the change that made it.
    version: u64,
    mark: u64,
    /// The number of leading messages that are stored unchanged.
    unchanged: usize,
    /// The number of stored messages, which is larger if a message was removed here.
    stored: usize,
    /// The stored mode.
    stored_mode: Mode,
    /// Set if the result of the last save is unknown.
    is_uncertain: bool,
    /// The marks of unconfirmed saves, newest first. Each may still succeed: a store can complete a save after its
    /// future was dropped.
    unconfirmed: Vec<u64>,
}

impl ConversationState {
    /// Loads the conversation, again if another writer has changed it.
    pub(crate) async fn refresh(
        &mut self,
        agent: &AgentInner,
        shared: &ConversationShared,
    ) -> Result<(), ConversationStoreError> {
        // The next save first resolves an unconfirmed one.
        let is_certain = self.is_loaded && self.unconfirmed.is_empty();
        if let Some(store) = agent.store.as_ref().filter(|_| is_certain && !shared.is_temporary) {
            let last_change = store.last_change(&shared.id).await?.unwrap_or_default();
            self.is_loaded = last_change == (self.version, self.mark);
        }
        self.load(agent, shared).await
    }

    /// Loads the conversation unless it is loaded.
    pub(crate) async fn load(
        &mut self,
        agent: &AgentInner,
        shared: &ConversationShared,
    ) -> Result<(), ConversationStoreError> {
        if self.is_loaded {
            return Ok(());
        }
        let saved = match &agent.store {
            Some(store) if !shared.is_temporary => store.load(&shared.id).await?,
            _ => None,
        };
        let SavedConversation { version, mark, mode, messages } =
            saved.unwrap_or_else(|| SavedConversation { mode: agent.mode, ..SavedConversation::default() });
        let unchanged = messages.len();
        let mut read =
            Self { history: messages, mode, is_loaded: true, version, mark, stored_mode: mode, ..Self::default() };
        (read.unchanged, read.stored) = (unchanged, unchanged);
        read.recover(agent, shared).await;
        // Assigned at the end, so that dropping this future never exposes an unrecovered history.
        *self = read;
        Ok(())
    }

    /// Returns the pending calls at the end of the history, with their indices. Older tokens, which were withdrawn or
    /// left by a crash, match no call.
    pub(crate) async fn waiting(
        &self,
        deferred: &Deferred,
        shared: &ConversationShared,
    ) -> Result<Vec<(usize, PendingApproval, PendingCall)>, TokenError> {
        let waiting = deferred.waiting(&shared.id, SystemTime::now()).await?;
        let results = history::last_results(&self.history);
        let index = |call: &PendingCall| {
            let id = call.question.call_id.as_deref()?;
            results.iter().position(|result| result.is_pending() && result.id == id)
        };
        Ok(waiting.into_iter().filter_map(|(pending, call)| Some((index(&call)?, pending, call))).collect())
    }

    /// Replaces one of the last results.
    pub(crate) fn replace(&mut self, at: usize, result: ToolResult) {
        self.unchanged = self.unchanged.min(self.history.len().saturating_sub(1));
        if let Some(place) = history::last_results_mut(&mut self.history).get_mut(at) {
            let id = std::mem::take(&mut place.id);
            let name = std::mem::take(&mut place.name);
            *place = CallResult::new(id, name, result);
        }
    }

    /// Records the journal for approved calls that start now. Returns `true` if it changed.
    pub(crate) fn set_journal(&mut self, tools: &Dispatcher) -> bool {
        let Some(at) = history::last_response(&self.history) else { return false };
        let Some(Message::Assistant(response)) = self.history.get_mut(at) else { return false };
        let is_another = response.set_journal(tools);
        if is_another {
            self.unchanged = self.unchanged.min(at);
        }
        is_another
    }

    /// Removes a response at the end that was cut off, because it is requested again, and some providers reject a
    /// history that ends with one.
    pub(crate) fn drop_partial_response(&mut self) {
        if matches!(self.history.last(), Some(Message::Assistant(response)) if response.is_cut) {
            self.drop_last_message();
        }
    }

    /// Removes the last message.
    pub(crate) fn drop_last_message(&mut self) {
        self.history.pop();
        self.unchanged = self.unchanged.min(self.history.len());
    }

    /// Applies a new mode.
    pub(crate) fn apply_new_mode(&mut self, shared: &ConversationShared) {
        self.mode = shared.new_mode().take().unwrap_or(self.mode);
    }

    pub(crate) fn is_saved(&self) -> bool {
        let length = self.history.len();
        self.unchanged == length && self.stored == length && self.stored_mode == self.mode && !self.is_uncertain
    }

    /// Saves unsaved changes.
    pub(crate) async fn save(
        &mut self,
        agent: &AgentInner,
        shared: &ConversationShared,
    ) -> Result<(), ConversationStoreError> {
        let Some(store) = agent.store.as_ref().filter(|_| !shared.is_temporary) else {
            self.stored_mode = self.mode;
            self.mark_saved();
            return Ok(());
        };
        if self.is_uncertain {
            self.resolve_unconfirmed(&**store, shared).await?;
        }
        let mut done = self.save_to(&**store, shared).await;
        if is_conflict(&done) && !self.unconfirmed.is_empty() {
            // An unconfirmed save has succeeded in the meantime.
            self.resolve_unconfirmed(&**store, shared).await?;
            done = self.save_to(&**store, shared).await;
        }
        // After a conflict the history here is outdated.
        self.is_loaded &= !is_conflict(&done);
        done
    }

    async fn save_to(
        &mut self,
        store: &dyn ConversationStore,
        shared: &ConversationShared,
    ) -> Result<(), ConversationStoreError> {
        if self.is_saved() || !self.is_loaded {
            return Ok(());
        }
        let mark = RandomState::new().hash_one(self.version);
        let messages = self.history.get(self.unchanged..).unwrap_or_default();
        let change = ConversationChange::new(mark, messages).after(self.version, self.unchanged).mode(self.mode);
        self.unconfirmed.truncate(MAX_UNCONFIRMED);
        self.unconfirmed.insert(0, mark);
        self.is_uncertain = true;
        let done = store.save(&shared.id, change).await;
        match &done {
            Ok(()) => {
                self.set_stored(self.version + 1, mark, self.mode);
                self.mark_saved();
            }
            Err(error) if error.is_conflict() => {
                self.unconfirmed.remove(0);
                self.is_uncertain = false;
            }
            Err(_) => {}
        }
        done
    }

    /// Finds out whether an unconfirmed save succeeded. If the stored mark is neither one of those nor the previous
    /// one, another writer has changed the conversation, and the history here is outdated.
    async fn resolve_unconfirmed(
        &mut self,
        store: &dyn ConversationStore,
        shared: &ConversationShared,
    ) -> Result<(), ConversationStoreError> {
        let saved = store.load(&shared.id).await?.unwrap_or_default();
        if saved.version == self.version + 1 && self.unconfirmed.contains(&saved.mark) {
            self.set_stored(saved.version, saved.mark, saved.mode);
        } else if (saved.version, saved.mark) != (self.version, self.mark) {
            self.is_loaded = false;
            return Err(ConversationStoreError::conflict());
        }
        self.is_uncertain = false;
        self.stored = saved.messages.len();
        self.unchanged = saved.messages.iter().zip(&self.history).take_while(|(theirs, ours)| theirs == ours).count();
        Ok(())
    }

    /// Records that the stored messages equal those here.
    fn mark_saved(&mut self) {
        (self.unchanged, self.stored) = (self.history.len(), self.history.len());
    }

    /// Records the stored version.
    fn set_stored(&mut self, version: u64, mark: u64, mode: Mode) {
        (self.version, self.mark, self.stored_mode, self.is_uncertain) = (version, mark, mode, false);
        self.unconfirmed.clear();
    }
}

fn is_conflict(done: &Result<(), ConversationStoreError>) -> bool {
    done.as_ref().is_err_and(ConversationStoreError::is_conflict)
}
