//! Registry of active runs, from which sub-agents inherit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::CallSettings;
use super::budget::RunBudget;
use crate::Mode;

/// The part of a run that its sub-agents inherit.
pub(crate) struct ParentRun {
    #[cfg_attr(not(feature = "spawn"), expect(dead_code, reason = "sub-agents have them"))]
    pub(super) settings: CallSettings,
    pub(super) budget: Arc<RunBudget>,
    mode: Mutex<Mode>,
}

impl ParentRun {
    pub(super) fn new(settings: CallSettings, budget: Arc<RunBudget>, mode: Mode) -> Arc<Self> {
        Arc::new(Self { settings, budget, mode: Mutex::new(mode) })
    }

    pub(super) fn set_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// Returns the mode of the last turn.
    #[cfg(feature = "spawn")]
    pub(crate) fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the run has its own confirmer.
    #[cfg(feature = "spawn")]
    pub(crate) fn has_confirmer(&self) -> bool {
        self.settings.confirm.is_some()
    }
}

/// The active runs of an agent, by conversation. A shared conversation has one active run; several temporary
/// conversations may have the same id.
#[derive(Default)]
pub(crate) struct RunRegistry {
    runs: Mutex<HashMap<Arc<str>, Vec<Arc<ParentRun>>>>,
}

impl RunRegistry {
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Arc<ParentRun>>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, conversation: &Arc<str>, run: &Arc<ParentRun>) {
        self.lock().entry(conversation.clone()).or_default().push(run.clone());
    }

    pub(super) fn remove(&self, conversation: &str, run: &Arc<ParentRun>) {
        let mut runs = self.lock();
        let Some(active) = runs.get_mut(conversation) else { return };
        active.retain(|one| !Arc::ptr_eq(one, run));
        if active.is_empty() {
            runs.remove(conversation);
        }
    }

    /// Returns the active run of a conversation. Returns `None` if it is ambiguous, so that no user confirms another
    /// run's calls.
    #[cfg(feature = "spawn")]
    pub(crate) fn get(&self, conversation: &str) -> Option<Arc<ParentRun>> {
        match self.lock().get(conversation)?.as_slice() {
            [run] => Some(run.clone()),
            _ => None,
        }
    }
}
