//! What a run may spend, and what it has.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::admission::Admission;
use crate::limits::{Spent, estimated};
use crate::{Assistant, Limits, Message, Reached, Stop, Usage};

/// What a run may spend, together with the sub-agents that it spawns: what they ask and call is asked and called for it.
pub(crate) struct Budget {
    limits: Limits,
    spent: Mutex<Spent>,
}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, spent: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was spent so far.
    pub(super) fn spent(&self) -> Spent {
        *self.lock()
    }

    /// Takes a turn of the model, if one is left.
    pub(super) fn take_turn(&self) -> Result<(), Reached> {
        let mut spent = self.lock();
        match spent.before_turn(&self.limits) {
            Some(reached) => Err(reached),
            None => {
                spent.turns += 1;
                Ok(())
            }
        }
    }

    /// Takes as many of the calls of an answer as are left.
    pub(super) fn take_calls(&self, calls: usize, stop: Stop) -> Admission {
        let mut spent = self.lock();
        let admission = Admission::new(calls, stop, &spent, &self.limits);
        spent.calls = spent.calls.saturating_add(u32::try_from(admission.admitted(calls)).unwrap_or(u32::MAX));
        admission
    }

    /// Counts a call that somebody has agreed to.
    pub(super) fn add_call(&self) {
        let mut spent = self.lock();
        spent.calls = spent.calls.saturating_add(1);
    }

    /// Counts the tokens of an answer, and returns them: estimated if the provider does not report them and there is a
    /// limit to keep to.
    pub(super) fn add_usage(&self, mut usage: Usage, history: &[Message], answer: &Assistant) -> Usage {
        if usage.total() == 0 && self.limits.tokens.is_some() {
            usage = estimated(history, answer);
        }
        self.lock().usage += usage;
        usage
    }

    /// Counts the tokens of an answer that failed or was cancelled: providers charge for what they have written. A request
    /// that failed before anything came costs nothing.
    pub(super) fn add_unfinished(&self, usage: Usage, history: &[Message], answer: &Assistant) {
        let is_empty = answer.text.is_empty() && answer.thinking.is_empty() && answer.calls.is_empty();
        if usage.total() > 0 || !is_empty {
            self.add_usage(usage, history, answer);
        }
    }
}
