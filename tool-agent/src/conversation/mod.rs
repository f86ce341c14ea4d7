//! Conversations with a model.

mod cache;
mod mend;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::OwnedMutexGuard;
use tool_runtime::confirm::{Decision, Pending, PendingCall, TokenError};

pub(crate) use cache::Cache;
pub(crate) use state::State;

use crate::event::Hub;
use crate::run::Begin;
use crate::{Agent, Message, Mode, Run, StoreError, Subscriber};

/// One conversation with an agent's model; see [`Agent::conversation`]. Cheap to clone; clones are of the same one.
///
/// One run goes on in it at a time; another waits for its turn.
#[derive(Clone)]
pub struct Conversation {
    pub(crate) agent: Agent,
    pub(crate) shared: Arc<Shared>,
}

/// What all who hold one conversation share.
pub(crate) struct Shared {
    pub(crate) id: Arc<str>,
    pub(crate) hub: Hub,
    /// Held by the run that goes on.
    state: Arc<tokio::sync::Mutex<State>>,
    /// The mode that somebody has set while a run goes on, until that takes it up at its next turn or at its end.
    mode: Mutex<Option<Mode>>,
    /// Whether it is of no use to anybody later.
    pub(crate) is_passing: bool,
}

impl Shared {
    fn new(id: &str, is_passing: bool) -> Self {
        Self { id: id.into(), hub: Hub::default(), state: Arc::default(), mode: Mutex::default(), is_passing }
    }

    pub(crate) fn passing(id: &str) -> Self {
        Self::new(id, true)
    }

    /// The mode that somebody has set and nobody has taken up yet.
    pub(crate) fn new_mode(&self) -> MutexGuard<'_, Option<Mode>> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conversation {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// Says something to the model. Await what is given back.
    ///
    /// Calls that wait for somebody's consent are withdrawn: whoever goes on without deciding has decided.
    pub fn say(&self, text: impl Into<String>) -> Run {
        self.run(Begin::Say(text.into()))
    }

    /// Lets the model go on where a run has ended before it could answer: a limit, a provider that failed, a process
    /// that ended. An answer that broke off is asked for anew, and takes its place. If the model has answered already,
    /// that is the outcome.
    pub fn resume(&self) -> Run {
        self.run(Begin::Resume)
    }

    /// Decides on a call that [waits](Self::waiting). When none waits any more, the model goes on.
    ///
    /// To abort is to refuse all that wait, and the model does not go on.
    pub fn decide(&self, token: impl Into<String>, decision: Decision) -> Run {
        self.run(Begin::Decide { token: token.into(), decision })
    }

    fn run(&self, begin: Begin) -> Run {
        Run::new(self.clone(), begin)
    }

    /// Watches all that happens in it from now on: what others say, what the model answers, which [run](Run::id) it is in.
    /// [`Run::events`] watches one run.
    #[must_use]
    pub fn events(&self) -> Subscriber {
        Hub::subscribe(self.shared.clone(), None)
    }

    /// What the model may do from its next turn on, in a run that is on its way too. It is kept: what was to plan only
    /// does so after a restart. Does not wait for a run that is on its way; that keeps it.
    ///
    /// # Errors
    /// When the store cannot keep it. It counts nevertheless as long as the conversation is held in memory.
    pub async fn set_mode(&self, mode: Mode) -> Result<(), StoreError> {
        *self.shared.new_mode() = Some(mode);
        let Ok(mut state) = self.shared.state.clone().try_lock_owned() else {
            // The run may be past the point at which it would take it up.
            self.keep_in_background();
            return Ok(());
        };
        match self.keep(&mut state).await {
            // Whatever somebody else has said meanwhile, this is the mode now.
            Err(error) if error.is_conflict() => {
                *self.shared.new_mode() = Some(mode);
                self.keep(&mut state).await
            }
            done => done,
        }
    }

    /// What the model may do. Waits for a run that is on its way.
    ///
    /// # Errors
    /// When the conversation cannot be read.
    pub async fn mode(&self) -> Result<Mode, StoreError> {
        let mut state = self.state().await?;
        state.take_mode(&self.shared);
        Ok(state.mode)
    }

    /// What was said so far. Waits for a run that is on its way.
    ///
    /// # Errors
    /// When the conversation cannot be read.
    pub async fn history(&self) -> Result<Vec<Message>, StoreError> {
        Ok(self.state().await?.history.clone())
    }

    /// What was said so far, for a page that is opened in the middle of a run: if one is on its way, what the store has
    /// by now, in which the last calls may have no results yet. Without a store it waits as [`history`](Self::history)
    /// does.
    ///
    /// # Errors
    /// When the conversation cannot be read.
    pub async fn history_so_far(&self) -> Result<Vec<Message>, StoreError> {
        match &self.agent.inner.store {
            Some(store) if !self.shared.is_passing && self.shared.state.try_lock().is_err() => {
                Ok(store.load(&self.shared.id).await?.unwrap_or_default().messages)
            }
            _ => self.history().await,
        }
    }

    /// The calls that wait for somebody's consent, each with the token to [`decide`](Self::decide) on it. It is for the
    /// application to know who may see them. Those of an agent without
    /// [`deferred`](crate::AgentBuilder::deferred) are not known here.
    ///
    /// Does not wait for a run that is on its way: what begins to wait in it is there at once, and can be decided on when
    /// it has ended.
    ///
    /// # Errors
    /// [`TokenError::Unavailable`], when the store of calls that wait, or the conversation, cannot be read.
    pub async fn waiting(&self) -> Result<Vec<(Pending, PendingCall)>, TokenError> {
        let Some(deferred) = &self.agent.inner.deferred else { return Ok(Vec::new()) };
        let Ok(mut state) = self.shared.state.clone().try_lock_owned() else {
            return deferred.waiting(&self.shared.id, SystemTime::now()).await;
        };
        if let Err(error) = state.refresh(&self.agent.inner, &self.shared).await {
            tracing::error!(conversation = self.id(), %error, "the conversation cannot be read");
            return Err(TokenError::Unavailable);
        }
        let waiting = state.waiting(deferred, &self.shared).await?;
        Ok(waiting.into_iter().map(|(_, pending, call)| (pending, call)).collect())
    }

    /// Forgets all that was said, here and in the store. Calls that wait for somebody's consent will not run. Waits for a
    /// run that is on its way.
    ///
    /// # Errors
    /// When the store cannot forget it.
    pub async fn delete(&self) -> Result<(), StoreError> {
        let mut state = self.shared.state.clone().lock_owned().await;
        if let Some(store) = self.agent.inner.store.as_ref().filter(|_| !self.shared.is_passing) {
            store.delete(&self.shared.id).await?;
        }
        *state = State::default();
        *self.shared.new_mode() = None;
        if let Some(deferred) = &self.agent.inner.deferred {
            for (pending, _) in deferred.waiting(&self.shared.id, SystemTime::now()).await.unwrap_or_default() {
                // One that somebody has taken meanwhile is theirs.
                drop(deferred.redeem(&pending.token, SystemTime::now()).await);
            }
        }
        Ok(())
    }

    /// The state, for whoever's turn it is, with what somebody else has said since.
    pub(crate) async fn state(&self) -> Result<OwnedMutexGuard<State>, StoreError> {
        let mut state = self.shared.state.clone().lock_owned().await;
        state.refresh(&self.agent.inner, &self.shared).await?;
        Ok(state)
    }

    /// Keeps what the store does not have yet.
    async fn keep(&self, state: &mut State) -> Result<(), StoreError> {
        let (agent, shared) = (&self.agent.inner, &self.shared);
        state.load(agent, shared).await?;
        state.take_mode(shared);
        state.save(agent, shared).await
    }

    /// Keeps what a run that was dropped has left behind, or what it does not know of.
    pub(crate) fn keep_in_background(&self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let conversation = self.clone();
        runtime.spawn(async move {
            let mut state = conversation.shared.state.clone().lock_owned().await;
            if let Err(error) = conversation.keep(&mut state).await {
                tracing::error!(conversation = conversation.id(), %error, "what was said could not be kept");
            }
        });
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation").field("id", &self.shared.id).finish_non_exhaustive()
    }
}
