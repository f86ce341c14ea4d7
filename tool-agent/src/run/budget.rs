//! What a run may spend, and what it has.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::admission::Admission;
use crate::limits::Spent;
use crate::{Limits, Reached, Stop, Usage};

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

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
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

    /// Counts the tokens of an answer.
    pub(super) fn add_usage(&self, usage: Usage) {
        self.lock().usage += usage;
    }
}
