//! The rules of a dispatcher: everything that stands between a call and its handler.

use std::sync::Arc;

use super::BoundTool;
use super::retries::RetryCounter;
use crate::Policy;
use crate::confirm::Confirm;
use crate::events::Events;
use crate::handler_failure::ErrorDescriber;
use crate::journal::Journal;
use crate::limits::{Concurrency, Limiter};
use crate::output::Spill;

/// The rules of a dispatcher.
#[derive(Default)]
pub(crate) struct CallRules {
    pub(crate) policy: Policy,
    pub(crate) confirm: Option<Arc<dyn Confirm>>,
    pub(crate) journal: Option<Arc<dyn Journal>>,
    pub(crate) dry_run: bool,
    pub(crate) limiter: Option<Limiter>,
    pub(crate) concurrency: Option<Concurrency>,
    pub(crate) spill: Option<Spill>,
    pub(crate) retries: Option<RetryCounter>,
    pub(crate) describe_errors: Option<ErrorDescriber>,
    pub(crate) events: Events,
    /// Puts redacted arguments into the spans of calls.
    pub(crate) trace_arguments: bool,
    /// All calls take the guarded path.
    pub(crate) guard_all: bool,
    /// Calls of sensitive tools take the guarded path.
    pub(crate) guard_sensitive: bool,
    /// Results are shortened, or retries are counted.
    pub(crate) touch_results: bool,
}

impl CallRules {
    /// Computes the flags that every call reads.
    pub(crate) fn settle(mut self) -> Self {
        self.guard_sensitive = matches!(self.policy, Policy::ConfirmSensitive);
        self.guard_all = !matches!(self.policy, Policy::Yolo | Policy::ConfirmSensitive)
            || self.dry_run
            || self.journal.is_some()
            || self.limiter.is_some()
            || self.concurrency.is_some();
        self.touch_results = self.spill.is_some() || self.retries.is_some();
        self
    }

    /// Returns `true` if arguments of the tool are shown to a user, decided upon or recorded.
    pub(crate) fn inspect_arguments(&self, tool: &BoundTool) -> bool {
        self.dry_run || self.journal.is_some() || self.policy.asks_about(tool.definition())
    }
}
