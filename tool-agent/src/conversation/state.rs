//! What was said, and what of it is kept.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use tool_runtime::{Deferred, ErrorKind, Pending, PendingCall, TokenError, ToolResult};

use super::Shared;
use crate::agent::Inner;
use crate::history::{self, not_run, unknown};
use crate::store::{Change, Saved, StoreError};
use crate::{CallResult, Message, Mode};

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
    /// How many messages the store has as they are here.
    kept: usize,
    /// The mode that the store has.
    kept_mode: Mode,
    /// The mark of a save of which nobody knows whether it was done.
    in_doubt: Option<u64>,
}

impl State {
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
        *self = Self { history: messages, mode, is_loaded: true, version, mark, kept, kept_mode: mode, in_doubt: None };
        self.mend(agent, shared).await;
        Ok(())
    }

    /// Answers calls that the end of a process has left without a result, and looks which of them still wait.
    pub(crate) async fn mend(&mut self, agent: &Inner, shared: &Shared) {
        let (is_open, is_waiting) =
            (!history::open_calls(&self.history).is_empty(), history::waiting(&self.history) > 0);
        if !is_open && !is_waiting {
            return;
        }
        let Some(deferred) = agent.deferred.as_ref() else {
            history::answer(&mut self.history, |call| unknown(&call.name));
            return self.refuse_waiting();
        };
        if shared.is_passing {
            return history::answer(&mut self.history, |call| unknown(&call.name));
        }
        let now = SystemTime::now();
        let waiting = match deferred.waiting(&shared.id, now).await {
            Ok(waiting) => waiting,
            // They may wait or not. What is known to wait stays as it is, and to run a call it is asked for again.
            Err(_) => return history::answer(&mut self.history, |call| unknown(&call.name)),
        };
        let waiting: HashSet<&str> = waiting.iter().filter_map(|(_, call)| call.question.call_id.as_deref()).collect();
        history::answer(&mut self.history, |call| match waiting.contains(call.id.as_str()) {
            true => pending(&call.name),
            false => unknown(&call.name),
        });
        let last = self.history.len() - 1;
        for result in history::last_results_mut(&mut self.history) {
            if result.is_waiting() && !waiting.contains(result.id.as_str()) {
                result.result = no_longer_waiting(result, now);
                self.kept = self.kept.min(last);
            }
        }
    }

    /// Refuses what waits where nobody can agree to it any more: the conversation would wait for ever.
    fn refuse_waiting(&mut self) {
        let last = self.history.len().saturating_sub(1);
        for result in history::last_results_mut(&mut self.history).iter_mut().filter(|result| result.is_waiting()) {
            result.result = not_run(&result.name, ErrorKind::Refused, "nobody can be asked for consent any more");
            self.kept = self.kept.min(last);
        }
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

    /// Takes out an answer at the end that broke off: it is asked for anew, and not every provider takes a history that
    /// ends with one.
    pub(crate) fn drop_cut_answer(&mut self) {
        if matches!(self.history.last(), Some(Message::Assistant(answer)) if answer.is_cut) {
            self.history.pop();
            self.kept = self.kept.min(self.history.len());
        }
    }

    /// Takes up the mode that somebody has set.
    pub(crate) fn take_mode(&mut self, shared: &Shared) {
        self.mode = shared.new_mode().take().unwrap_or(self.mode);
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.kept == self.history.len() && self.kept_mode == self.mode && self.in_doubt.is_none()
    }

    /// Keeps what the store does not have yet.
    pub(crate) async fn save(&mut self, agent: &Inner, shared: &Shared) -> Result<(), StoreError> {
        let Some(store) = agent.store.as_ref().filter(|_| !shared.is_passing) else {
            (self.kept, self.kept_mode) = (self.history.len(), self.mode);
            return Ok(());
        };
        if let Some(mark) = self.in_doubt {
            let saved = store.load(&shared.id).await?.unwrap_or_default();
            self.recognise(saved, mark)?;
        }
        if self.is_kept() || !self.is_loaded {
            return Ok(());
        }
        let mark = RandomState::new().hash_one(self.version);
        let change = Change {
            version: self.version,
            mark,
            keep: self.kept,
            messages: self.history.get(self.kept..).unwrap_or_default(),
            mode: self.mode,
        };
        self.in_doubt = Some(mark);
        let done = store.save(&shared.id, change).await;
        match &done {
            Ok(()) => {
                (self.version, self.mark, self.in_doubt) = (self.version + 1, mark, None);
                (self.kept, self.kept_mode) = (self.history.len(), self.mode);
            }
            // What is here is not what was said any more.
            Err(error) if error.is_conflict() => (self.is_loaded, self.in_doubt) = (false, None),
            Err(_) => {}
        }
        done
    }

    /// Finds out whether the save of this mark was done. What has neither that mark nor the one from before is somebody
    /// else's.
    fn recognise(&mut self, saved: Saved, mark: u64) -> Result<(), StoreError> {
        let found = (saved.version, saved.mark);
        if found != (self.version, self.mark) && found != (self.version + 1, mark) {
            (self.is_loaded, self.in_doubt) = (false, None);
            return Err(StoreError::conflict());
        }
        self.kept = saved.messages.iter().zip(&self.history).take_while(|(theirs, ours)| theirs == ours).count();
        (self.version, self.mark) = found;
        (self.kept_mode, self.in_doubt) = (saved.mode, None);
        Ok(())
    }
}

/// What stands in the place of the result of a call that waits.
fn pending(tool: &str) -> ToolResult {
    not_run(tool, ErrorKind::Pending, "it waits for somebody's consent")
}

fn no_longer_waiting(result: &CallResult, now: SystemTime) -> ToolResult {
    match result.expires() {
        Some(expires) if expires <= now => not_run(&result.name, ErrorKind::Refused, "nobody has agreed in time"),
        _ => unknown(&result.name),
    }
}
