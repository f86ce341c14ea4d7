//! The runs that go on, for the sub-agents that are spawned in them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Settings;
use super::budget::Budget;
use crate::Mode;

/// What a sub-agent has from the run that it is spawned in.
pub(crate) struct Parent {
    #[cfg_attr(not(feature = "spawn"), expect(dead_code, reason = "sub-agents have them"))]
    pub(super) settings: Settings,
    pub(super) budget: Arc<Budget>,
    mode: Mutex<Mode>,
}

impl Parent {
    pub(super) fn new(settings: Settings, budget: Arc<Budget>, mode: Mode) -> Arc<Self> {
        Arc::new(Self { settings, budget, mode: Mutex::new(mode) })
    }

    pub(super) fn set_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// The mode of its last turn.
    #[cfg(feature = "spawn")]
    pub(crate) fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody is asked in this run whom the agent would not ask.
    #[cfg(feature = "spawn")]
    pub(crate) fn asks(&self) -> bool {
        self.settings.confirm.is_some()
    }
}

/// The runs of an agent that go on, by their conversations. A conversation that is kept has one at a time; of those that
/// pass, several may have one id.
#[derive(Default)]
pub(crate) struct Running {
    runs: Mutex<HashMap<Arc<str>, Vec<Arc<Parent>>>>,
}

impl Running {
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Arc<Parent>>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begins(&self, conversation: &Arc<str>, run: &Arc<Parent>) {
        self.lock().entry(conversation.clone()).or_default().push(run.clone());
    }

    pub(super) fn ends(&self, conversation: &str, run: &Arc<Parent>) {
        let mut runs = self.lock();
        let Some(of_it) = runs.get_mut(conversation) else { return };
        of_it.retain(|one| !Arc::ptr_eq(one, run));
        if of_it.is_empty() {
            runs.remove(conversation);
        }
    }

    /// The run that goes on in a conversation. Nothing where it cannot be told which: nobody is asked about somebody
    /// else's calls.
    #[cfg(feature = "spawn")]
    pub(crate) fn get(&self, conversation: &str) -> Option<Arc<Parent>> {
        match self.lock().get(conversation)?.as_slice() {
            [run] => Some(run.clone()),
            _ => None,
        }
    }
}
