//! Conversations with an agent.

mod cache;
mod recover;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::OwnedMutexGuard;
use tool_runtime::confirm::{Decision, PendingApproval, PendingCall, TokenError};

pub(crate) use cache::ConversationCache;
pub(crate) use state::ConversationState;

use crate::event::EventHub;
use crate::run::RunStart;
use crate::{Agent, AgentSubscriber, ConversationStoreError, Message, Mode, Run};

/// A conversation with an agent; see [`Agent::conversation`]. Cheap to clone; clones share one conversation.
///
/// Only one run is active at a time; others wait for their turn.
#[derive(Clone)]
pub struct Conversation {
    pub(crate) agent: Agent,
    pub(crate) shared: Arc<ConversationShared>,
}

/// The state that all handles of one conversation share.
pub(crate) struct ConversationShared {
    pub(crate) id: Arc<str>,
    pub(crate) hub: EventHub,
    /// Locked by the active run.
    state: Arc<tokio::sync::Mutex<ConversationState>>,
    /// A new mode that the active run has not applied yet. It does so at its next turn or at its end.
    mode: Mutex<Option<Mode>>,
    /// Set if the conversation is neither stored nor cached.
    pub(crate) is_temporary: bool,
}

impl ConversationShared {
    fn new(id: &str, is_temporary: bool) -> Self {
        Self { id: id.into(), hub: EventHub::default(), state: Arc::default(), mode: Mutex::default(), is_temporary }
    }

    pub(crate) fn temporary(id: &str) -> Self {
        Self::new(id, true)
    }

    /// Locks the new mode that has not been applied yet.
    pub(crate) fn new_mode(&self) -> MutexGuard<'_, Option<Mode>> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conversation {
    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// Sends a message to the model. Await the returned run.
    ///
    /// Withdraws pending calls: continuing without a decision counts as a refusal.
    pub fn say(&self, text: impl Into<String>) -> Run {
        self.run(RunStart::Say(text.into()))
    }

    /// Continues after a run that ended before the model answered, because of a limit, a failed provider, or the end of
    /// a process. A response that was cut off is replaced. If the model has already answered, that is the outcome.
    pub fn resume(&self) -> Run {
        self.run(RunStart::Resume)
    }

    /// Decides about a [pending call](Self::pending_calls). The model continues when no call is pending any more.
    ///
    /// [`Decision::Abort`] refuses all pending calls, and the model does not continue.
    pub fn decide(&self, token: impl Into<String>, decision: Decision) -> Run {
        self.run(RunStart::Decide { token: token.into(), decision })
    }

    fn run(&self, begin: RunStart) -> Run {
        Run::new(self.clone(), begin)
    }

    /// Subscribes to all future events of the conversation, in runs of all handles. [`Run::events`] subscribes to one
    /// run.
    #[must_use]
    pub fn events(&self) -> AgentSubscriber {
        EventHub::subscribe(self.shared.clone(), None)
    }

    /// Sets the mode from the next turn on, also during an active run. The mode is stored, so that it survives a
    /// restart. Does not wait for an active run, which stores the mode itself.
    ///
    /// # Errors
    /// If the mode cannot be stored. It still applies while the conversation is in memory.
    pub async fn set_mode(&self, mode: Mode) -> Result<(), ConversationStoreError> {
        *self.shared.new_mode() = Some(mode);
        let Ok(mut state) = self.shared.state.clone().try_lock_owned() else {
            // The run may already be past the point where it applies a new mode.
            self.save_in_background();
            return Ok(());
        };
        match self.save(&mut state).await {
            // The mode wins over whatever another writer has changed meanwhile.
            Err(error) if error.is_conflict() => {
                *self.shared.new_mode() = Some(mode);
                self.save(&mut state).await
            }
            done => done,
        }
    }

    /// Returns the mode. Waits for an active run.
    ///
    /// # Errors
    /// If the conversation cannot be loaded.
    pub async fn mode(&self) -> Result<Mode, ConversationStoreError> {
        let mut state = self.state().await?;
        state.apply_new_mode(&self.shared);
        Ok(state.mode)
    }

    /// Returns the messages so far. Waits for an active run.
    ///
    /// # Errors
    /// If the conversation cannot be loaded.
    pub async fn history(&self) -> Result<Vec<Message>, ConversationStoreError> {
        Ok(self.state().await?.history.clone())
    }

    /// Returns the messages so far without waiting for an active run, for a page that is opened in the middle of one.
    /// During a run these are the stored messages, in which the last calls may have no results yet. Without a store it
    /// waits like [`history`](Self::history).
    ///
    /// # Errors
    /// If the conversation cannot be loaded.
    pub async fn history_so_far(&self) -> Result<Vec<Message>, ConversationStoreError> {
        match &self.agent.inner.store {
            Some(store) if !self.shared.is_temporary && self.shared.state.try_lock().is_err() => {
                Ok(store.load(&self.shared.id).await?.unwrap_or_default().messages)
            }
            _ => self.history().await,
        }
    }

    /// Returns the pending calls, each with the token to [`decide`](Self::decide) about it. The application controls
    /// who may see them. Empty for an agent without [`deferred`](crate::AgentBuilder::deferred) approvals.
    ///
    /// Does not wait for an active run: its pending calls are listed at once and can be decided when it has ended.
    ///
    /// # Errors
    /// [`TokenError::Unavailable`] if the store of pending calls or the conversation cannot be read.
    pub async fn pending_calls(&self) -> Result<Vec<(PendingApproval, PendingCall)>, TokenError> {
        let Some(deferred) = &self.agent.inner.deferred else { return Ok(Vec::new()) };
        let Ok(mut state) = self.shared.state.clone().try_lock_owned() else {
            return deferred.waiting(&self.shared.id, SystemTime::now()).await;
        };
        if let Err(error) = state.refresh(&self.agent.inner, &self.shared).await {
            tracing::error!(conversation = self.id(), %error, "cannot load the conversation");
            return Err(TokenError::Unavailable);
        }
        let waiting = state.waiting(deferred, &self.shared).await?;
        Ok(waiting.into_iter().map(|(_, pending, call)| (pending, call)).collect())
    }

    /// Deletes the conversation, here and in the store. Pending calls will not run. Waits for an active run.
    ///
    /// # Errors
    /// If the store cannot delete it.
    pub async fn delete(&self) -> Result<(), ConversationStoreError> {
        let mut state = self.shared.state.clone().lock_owned().await;
        if let Some(store) = self.agent.inner.store.as_ref().filter(|_| !self.shared.is_temporary) {
            store.delete(&self.shared.id).await?;
        }
        *state = ConversationState::default();
        *self.shared.new_mode() = None;
        if let Some(deferred) = &self.agent.inner.deferred {
            for (pending, _) in deferred.waiting(&self.shared.id, SystemTime::now()).await.unwrap_or_default() {
                // A token that was redeemed meanwhile belongs to another caller.
                drop(deferred.redeem(&pending.token, SystemTime::now()).await);
            }
        }
        Ok(())
    }

    /// Locks the state and reloads it if another writer has changed it.
    pub(crate) async fn state(&self) -> Result<OwnedMutexGuard<ConversationState>, ConversationStoreError> {
        let mut state = self.shared.state.clone().lock_owned().await;
        state.refresh(&self.agent.inner, &self.shared).await?;
        Ok(state)
    }

    /// Saves unsaved changes.
    async fn save(&self, state: &mut ConversationState) -> Result<(), ConversationStoreError> {
        let (agent, shared) = (&self.agent.inner, &self.shared);
        state.load(agent, shared).await?;
        state.apply_new_mode(shared);
        state.save(agent, shared).await
    }

    /// Saves what a dropped run has left unsaved, or a mode that a run has not seen.
    pub(crate) fn save_in_background(&self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let conversation = self.clone();
        runtime.spawn(async move {
            let mut state = conversation.shared.state.clone().lock_owned().await;
            if let Err(error) = conversation.save(&mut state).await {
                tracing::error!(conversation = conversation.id(), %error, "cannot save the conversation");
            }
        });
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation").field("id", &self.shared.id).finish_non_exhaustive()
    }
}
