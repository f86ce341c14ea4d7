//! Budget of a run: its limits, what it has used, and which calls it admits.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tool_runtime::{ErrorKind, ToolResult};

use crate::history::not_run;
use crate::limits::{RunUsage, estimated};
use crate::{AssistantMessage, Message, ModelCall, ReachedLimit, RunLimits, StopReason, Usage};

/// The budget that a run shares with the sub-agents that it spawns.
pub(crate) struct RunBudget {
    limits: RunLimits,
    spent: Mutex<RunUsage>,
}

impl RunBudget {
    pub(super) fn new(limits: RunLimits) -> Self {
        Self { limits, spent: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, RunUsage> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what was used so far.
    pub(super) fn spent(&self) -> RunUsage {
        *self.lock()
    }

    /// Takes a turn of the model, if one is left.
    pub(super) fn take_turn(&self) -> Result<(), ReachedLimit> {
        let mut spent = self.lock();
        match spent.before_turn(&self.limits) {
            Some(reached) => Err(reached),
            None => {
                spent.turns += 1;
                Ok(())
            }
        }
    }

    /// Takes as many calls of a response as are left.
    pub(super) fn take_calls(&self, calls: usize, stop: StopReason) -> CallAdmission {
        let mut spent = self.lock();
        let admission = CallAdmission::new(calls, stop, &spent, &self.limits);
        spent.calls = spent.calls.saturating_add(u32::try_from(admission.admitted(calls)).unwrap_or(u32::MAX));
        admission
    }

    /// Counts an approved call.
    pub(super) fn add_call(&self) {
        let mut spent = self.lock();
        spent.calls = spent.calls.saturating_add(1);
    }

    /// Counts and returns the tokens of a response. They are estimated if the provider reports none and there is a
    /// token limit.
    pub(super) fn add_usage(&self, mut usage: Usage, history: &[Message], response: &AssistantMessage) -> Usage {
        if usage.total() == 0 && self.limits.tokens.is_some() {
            usage = estimated(history, response);
        }
        self.lock().usage += usage;
        usage
    }

    /// Counts the tokens of a response that failed or was cancelled, because providers charge for partial output. A
    /// request that failed before any output costs nothing.
    pub(super) fn add_unfinished(&self, usage: Usage, history: &[Message], response: &AssistantMessage) {
        let is_empty = response.text.is_empty() && response.thinking.is_empty() && response.calls.is_empty();
        if usage.total() > 0 || !is_empty {
            self.add_usage(usage, history, response);
        }
    }
}

/// The calls of a response that may run.
pub(super) struct CallAdmission {
    /// The limit that prevents some of them.
    pub(super) reached: Option<ReachedLimit>,
    /// The number of calls that may still run.
    left: usize,
    /// The index of the call in which the response may have been cut off. Its arguments may be incomplete even if they
    /// are valid.
    cut: Option<usize>,
}

impl CallAdmission {
    pub(super) fn new(calls: usize, stop: StopReason, spent: &RunUsage, limits: &RunLimits) -> Self {
        let tokens = spent.tokens(limits);
        let left = match tokens {
            Some(_) => 0,
            None => usize::try_from(limits.calls.saturating_sub(spent.calls)).unwrap_or(usize::MAX),
        };
        Self {
            reached: tokens.or((calls > left).then_some(ReachedLimit::Calls)),
            left,
            cut: calls.checked_sub(1).filter(|_| stop != StopReason::Done),
        }
    }

    /// Returns how many of the calls run.
    pub(super) fn admitted(&self, calls: usize) -> usize {
        let cut = self.cut.filter(|at| *at < self.left);
        calls.min(self.left) - usize::from(cut.is_some())
    }

    /// Returns the result of a call that does not run.
    pub(super) fn refusal(&self, at: usize, call: &ModelCall) -> Option<ToolResult> {
        if let Some(reached) = self.reached.filter(|_| at >= self.left) {
            return Some(not_run(&call.name, ErrorKind::RateLimited, &reached.to_string()));
        }
        let because = match &call.malformed {
            Some(reason) => format!("{reason}. Repeat the complete call"),
            None if self.cut == Some(at) => {
                "the response was cut off in this call. Repeat the complete call".to_owned()
            }
            None => return None,
        };
        Some(not_run(&call.name, ErrorKind::InvalidArguments, &because))
    }
}
