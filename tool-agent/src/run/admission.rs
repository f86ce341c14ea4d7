//! Which calls of an answer run.

use tool_runtime::{ErrorKind, ToolResult};

use crate::history::not_run;
use crate::limits::Spent;
use crate::{Limits, ModelCall, Reached, Stop};

/// Which calls of an answer run.
pub(super) struct Admission {
    /// The limit that keeps some of them from it.
    pub(super) reached: Option<Reached>,
    /// How many may still run.
    left: usize,
    /// The place of the call in which the answer may have broken off: it may lack a part of its arguments, and read well
    /// nevertheless.
    cut: Option<usize>,
}

impl Admission {
    pub(super) fn new(calls: usize, stop: Stop, spent: &Spent, limits: &Limits) -> Self {
        let tokens = spent.tokens(limits);
        let left = match tokens {
            Some(_) => 0,
            None => usize::try_from(limits.calls.saturating_sub(spent.calls)).unwrap_or(usize::MAX),
        };
        Self {
            reached: tokens.or((calls > left).then_some(Reached::Calls)),
            left,
            cut: calls.checked_sub(1).filter(|_| stop != Stop::Done),
        }
    }

    /// How many of so many calls run.
    pub(super) fn admitted(&self, calls: usize) -> usize {
        let cut = self.cut.filter(|at| *at < self.left);
        calls.min(self.left) - usize::from(cut.is_some())
    }

    /// What the model reads of a call that does not run.
    pub(super) fn refusal(&self, at: usize, call: &ModelCall) -> Option<ToolResult> {
        if let Some(reached) = self.reached.filter(|_| at >= self.left) {
            return Some(not_run(&call.name, ErrorKind::RateLimited, &reached.to_string()));
        }
        let because = match &call.malformed {
            Some(reason) => format!("{reason}. Make it again, whole"),
            None if self.cut == Some(at) => "the answer broke off in it. Make it again, whole".to_owned(),
            None => return None,
        };
        Some(not_run(&call.name, ErrorKind::InvalidArguments, &because))
    }
}
