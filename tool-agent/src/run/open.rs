//! Calls that run, and what is told of them.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;
use tool_runtime::ToolResult;
use tool_runtime::confirm::Question;

use super::Watchers;
use crate::conversation::State;
use crate::history::stopped;
use crate::{CallResult, Event};

/// Calls that have begun, with the results so far. Whatever becomes of the run, each has one result in the end.
pub(super) struct Open {
    pub(super) calls: Vec<Begun>,
    /// Whether these waited for somebody to decide: their results have a place already.
    pub(super) is_decision: bool,
    /// What somebody has decided on, once it is on its way.
    decided: OnceLock<Question>,
}

pub(super) struct Begun {
    /// Where its result stands among those of its answer.
    at: usize,
    pub(super) id: Arc<str>,
    tool: Arc<str>,
    slot: Mutex<Slot>,
}

/// What is known of a call. What is told of it is told under its lock, so that nothing comes after its end.
enum Slot {
    Open,
    /// Its end was told. The result is there until somebody takes it.
    Answered(Option<ToolResult>),
}

impl Open {
    pub(super) fn new<'a>(calls: impl IntoIterator<Item = (usize, &'a str, &'a str)>, is_decision: bool) -> Arc<Self> {
        let begun = |(at, id, tool): (usize, &str, &str)| Begun {
            at,
            id: id.into(),
            tool: tool.into(),
            slot: Mutex::new(Slot::Open),
        };
        Arc::new(Self { calls: calls.into_iter().map(begun).collect(), is_decision, decided: OnceLock::new() })
    }

    /// Says that the call that somebody has decided on is on its way.
    pub(super) fn begins(&self, question: &Question) {
        let _ = self.decided.set(question.clone());
    }

    /// Returns `true` if they may have run. What somebody has decided on waits on until its handler starts.
    pub(super) fn has_begun(&self) -> bool {
        !self.is_decision || self.decided.get().is_some_and(Question::is_spent)
    }

    /// Tells of a call that was on its way and waits on.
    pub(super) fn waits_on(&self, watchers: &Watchers) {
        if self.is_decision && self.decided.get().is_some() && !self.has_begun() {
            self.hand_over();
            for call in &self.calls {
                watchers.tell(|| Event::CallPending { id: call.id.clone(), expires: None });
            }
        }
    }

    fn find(&self, id: &str) -> Option<&Begun> {
        self.calls.iter().find(|call| &*call.id == id)
    }

    /// The result of a call, if it has one.
    pub(super) fn take(&self, id: &str) -> Option<ToolResult> {
        self.find(id)?.take()
    }

    /// Answers those that were stopped.
    pub(super) fn close(&self, watchers: &Watchers) {
        for call in self.calls.iter().filter(|call| call.is_open()) {
            call.answer(watchers, stopped(&call.tool));
        }
    }

    /// Nothing more is told of these here: somebody else says what came of them.
    pub(super) fn hand_over(&self) {
        for call in &self.calls {
            *call.slot() = Slot::Answered(None);
        }
    }

    /// Puts the results into the places that they have already.
    pub(super) fn put_into(&self, state: &mut State) {
        for call in &self.calls {
            if let Some(result) = call.take() {
                state.replace(call.at, result);
            }
        }
    }
}

impl Begun {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(*self.slot(), Slot::Open)
    }

    fn take(&self) -> Option<ToolResult> {
        match &mut *self.slot() {
            Slot::Open => None,
            Slot::Answered(result) => result.take(),
        }
    }

    /// Answers it once. What comes later does not count.
    pub(super) fn answer(&self, watchers: &Watchers, result: ToolResult) {
        let mut slot = self.slot();
        if let Slot::Answered(_) = *slot {
            return;
        }
        let told = watchers.tell_asleep(|| ended(&self.id, &self.tool, &result));
        *slot = Slot::Answered(Some(result));
        drop(slot);
        told.wake();
    }

    /// Tells how far it is. One that cannot be stopped may go on to report when its end was told already.
    pub(super) fn report(&self, watchers: &Watchers, progress: Value) {
        let slot = self.slot();
        if let Slot::Answered(_) = *slot {
            return;
        }
        let told = watchers.tell_asleep(|| Event::CallProgress { id: self.id.clone(), progress });
        drop(slot);
        told.wake();
    }
}

/// What is told of a call that has a result.
pub(super) fn ended(id: &Arc<str>, tool: &str, result: &ToolResult) -> Event {
    let ended = CallResult::new(&**id, tool, result.clone());
    match ended.is_waiting() {
        true => Event::CallPending { id: id.clone(), expires: ended.expires() },
        false => Event::CallFinished(Arc::new(ended)),
    }
}
