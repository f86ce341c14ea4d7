//! What stands between a model's call and its handler: who is asked, what is recorded, what is only tried.

use std::sync::Arc;

use crate::Policy;
use crate::confirm::Confirm;
use crate::dispatch::BoundTool;
use crate::dispatch::retries::RetryCounter;
use crate::events::Events;
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
    pub(crate) tries: Option<RetryCounter>,
    pub(crate) events: Events,
    /// Whether the arguments of calls are put into their spans, without what is secret.
    pub(crate) trace_arguments: bool,
    concern_all: bool,
    concern_sensitive: bool,
    /// Whether results are shortened or judged.
    pub(crate) touch_results: bool,
}

impl CallRules {
    /// Decides once what would be asked of every call.
    pub(crate) fn settle(mut self) -> Self {
        self.concern_sensitive = matches!(self.policy, Policy::ConfirmSensitive);
        self.concern_all = !matches!(self.policy, Policy::Yolo | Policy::ConfirmSensitive)
            || self.dry_run
            || self.journal.is_some()
            || self.limiter.is_some()
            || self.concurrency.is_some();
        self.touch_results = self.spill.is_some() || self.tries.is_some();
        self
    }

    /// Whether somebody decides by the arguments of a tool's calls, or they are recorded.
    pub(crate) fn look_at_arguments(&self, tool: &BoundTool) -> bool {
        self.dry_run || self.journal.is_some() || self.policy.asks_about(tool.definition())
    }

    /// Whether calls of a tool take the careful way, whatever comes with them.
    #[inline]
    pub(crate) fn concern(&self, tool: &BoundTool) -> bool {
        self.concern_all || (self.concern_sensitive && tool.sensitive)
    }
}
