//! What was said, and what of it is kept.

use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use tool_runtime::confirm::{Deferred, Pending, PendingCall, TokenError};
use tool_runtime::{Dispatcher, ToolResult};

use super::Shared;
use crate::agent::Inner;
use crate::history;
use crate::store::{Change, Saved, Store, StoreError};
use crate::{CallResult, Message, Mode};

/// How many saves are remembered that were not seen to be done. They come one after the other, and are seldom many.
const UNSEEN: usize = 16;

/// What was said in a conversation.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) history: Vec<Message>,
    pub(crate) mode: Mode,
    /// Whether what the store has was read.
    is_loaded: bool,
    /// The version that the store has, and the mark of the change that has made it.
    version: u64,
    mark: u64,
    /// The number of leading messages that the store has as they are here.
    kept: usize,
    /// The number of messages in the store, which may be more: a message may have been removed here.
    stored: usize,
    /// The mode that the store has.
    kept_mode: Mode,
    /// Whether nobody knows if the last save was done.
    in_doubt: bool,
    /// The marks of saves that were not seen to be done, the newest first. Each may still be: a store is not done with a
    /// save when nobody waits for it any more.
    unseen: Vec<u64>,
}

impl State {
    /// Reads what the store has, and again whenever somebody else has gone on since.
    pub(crate) async fn refresh(&mut self, agent: &Inner, shared: &Shared) -> Result<(), StoreError> {
        // A save of which nobody knows whether it was done is looked for first, by the next save.
        let is_certain = self.is_loaded && self.unseen.is_empty();
        if let Some(store) = agent.store.as_ref().filter(|_| is_certain && !shared.is_passing) {
            let last_change = store.last_change(&shared.id).await?.unwrap_or_default();
            self.is_loaded = last_change == (self.version, self.mark);
        }
        self.load(agent, shared).await
    }

    /// Reads what the store has, once.
    pub(crate) async fn load(&mut self, agent: &Inner, shared: &Shared) -> Result<(), StoreError> {
        if self.is_loaded {
            return Ok(());
        }
        let saved = match &agent.store {
            Some(store) if !shared.is_passing => store.load(&shared.id).await?,
            _ => None,
        };
        let Saved { version, mark, mode, messages } =
            saved.unwrap_or_else(|| Saved { mode: agent.mode, ..Saved::default() });
        let kept = messages.len();
        let mut read =
            Self { history: messages, mode, is_loaded: true, version, mark, kept_mode: mode, ..Self::default() };
        (read.kept, read.stored) = (kept, kept);
        read.mend(agent, shared).await;
        // Nobody sees it before it is mended, also if this is dropped meanwhile.
        *self = read;
        Ok(())
    }

    /// The calls at the end of the history that wait, with their places. What somebody has gone on without, or has left
    /// behind in a crash, waits for nobody.
    pub(crate) async fn waiting(
        &self,
        deferred: &Deferred,
        shared: &Shared,
    ) -> Result<Vec<(usize, Pending, PendingCall)>, TokenError> {
        let waiting = deferred.waiting(&shared.id, SystemTime::now()).await?;
        let results = history::last_results(&self.history);
        let place = |call: &PendingCall| {
            let id = call.question.call_id.as_deref()?;
            results.iter().position(|result| result.is_waiting() && result.id == id)
        };
        Ok(waiting.into_iter().filter_map(|(pending, call)| Some((place(&call)?, pending, call))).collect())
    }

    /// Puts another result in the place of one of the last.
    pub(crate) fn replace(&mut self, at: usize, result: ToolResult) {
        self.kept = self.kept.min(self.history.len().saturating_sub(1));
        if let Some(place) = history::last_results_mut(&mut self.history).get_mut(at) {
            let id = std::mem::take(&mut place.id);
            let name = std::mem::take(&mut place.name);
            *place = CallResult::new(id, name, result);
        }
    }

    /// Says in which record of calls those are that begin now and have waited until then. Whether it was another.
    pub(crate) fn set_journal(&mut self, tools: &Dispatcher) -> bool {
        let Some(at) = history::last_answer(&self.history) else { return false };
        let Some(Message::Assistant(answer)) = self.history.get_mut(at) else { return false };
        let is_another = answer.set_journal(tools);
        if is_another {
            self.kept = self.kept.min(at);
        }
        is_another
    }

    /// Takes out an answer at the end that broke off: it is asked for anew, and not every provider takes a history that
    /// ends with one.
    pub(crate) fn drop_cut_answer(&mut self) {
        if matches!(self.history.last(), Some(Message::Assistant(answer)) if answer.is_cut) {
            self.drop_last();
        }
    }

    /// Removes the last message.
    pub(crate) fn drop_last(&mut self) {
        self.history.pop();
        self.kept = self.kept.min(self.history.len());
    }

    /// Takes up the mode that somebody has set.
    pub(crate) fn take_mode(&mut self, shared: &Shared) {
        self.mode = shared.new_mode().take().unwrap_or(self.mode);
    }

    pub(crate) fn is_kept(&self) -> bool {
        let length = self.history.len();
        self.kept == length && self.stored == length && self.kept_mode == self.mode && !self.in_doubt
    }

    /// Keeps what the store does not have yet.
    pub(crate) async fn save(&mut self, agent: &Inner, shared: &Shared) -> Result<(), StoreError> {
        let Some(store) = agent.store.as_ref().filter(|_| !shared.is_passing) else {
            self.kept_mode = self.mode;
            self.set_kept();
            return Ok(());
        };
        if self.in_doubt {
            self.look_for_unseen(&**store, shared).await?;
        }
        let mut done = self.save_to(&**store, shared).await;
        if is_conflict(&done) && !self.unseen.is_empty() {
            // One that nobody waited for was done since.
            self.look_for_unseen(&**store, shared).await?;
            done = self.save_to(&**store, shared).await;
        }
        // What is here is not what was said any more.
        self.is_loaded &= !is_conflict(&done);
        done
    }

    async fn save_to(&mut self, store: &dyn Store, shared: &Shared) -> Result<(), StoreError> {
        if self.is_kept() || !self.is_loaded {
            return Ok(());
        }
        let mark = RandomState::new().hash_one(self.version);
        let messages = self.history.get(self.kept..).unwrap_or_default();
        let change = Change::new(mark, messages).behind(self.version, self.kept).mode(self.mode);
        self.unseen.truncate(UNSEEN);
        self.unseen.insert(0, mark);
        self.in_doubt = true;
        let done = store.save(&shared.id, change).await;
        match &done {
            Ok(()) => {
                self.is_now(self.version + 1, mark, self.mode);
                self.set_kept();
            }
            Err(error) if error.is_conflict() => {
                self.unseen.remove(0);
                self.in_doubt = false;
            }
            Err(_) => {}
        }
        done
    }

    /// Finds out whether one of the saves that were not seen to be done was. What has neither the mark of one of them nor
    /// the one from before is somebody else's, and what is here is not what was said any more.
    async fn look_for_unseen(&mut self, store: &dyn Store, shared: &Shared) -> Result<(), StoreError> {
        let saved = store.load(&shared.id).await?.unwrap_or_default();
        if saved.version == self.version + 1 && self.unseen.contains(&saved.mark) {
            self.is_now(saved.version, saved.mark, saved.mode);
        } else if (saved.version, saved.mark) != (self.version, self.mark) {
            self.is_loaded = false;
            return Err(StoreError::conflict());
        }
        self.in_doubt = false;
        self.stored = saved.messages.len();
        self.kept = saved.messages.iter().zip(&self.history).take_while(|(theirs, ours)| theirs == ours).count();
        Ok(())
    }

    /// Records that the store has exactly the messages that are here.
    fn set_kept(&mut self) {
        (self.kept, self.stored) = (self.history.len(), self.history.len());
    }

    /// Knows what the store has.
    fn is_now(&mut self, version: u64, mark: u64, mode: Mode) {
        (self.version, self.mark, self.kept_mode, self.in_doubt) = (version, mark, mode, false);
        self.unseen.clear();
    }
}

fn is_conflict(done: &Result<(), StoreError>) -> bool {
    done.as_ref().is_err_and(StoreError::is_conflict)
}
