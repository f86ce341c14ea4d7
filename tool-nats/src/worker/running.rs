//! Calls that take long and jobs, which can be stopped.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tool_runtime::CancellationToken;

/// The calls that take long, by the subjects to which their answers go, and the jobs, by their ids.
#[derive(Default)]
pub(crate) struct Running {
    calls: Mutex<FxHashMap<String, CancellationToken>>,
}

impl Running {
    /// Lets a call be stopped as long as what is given back lives.
    pub(crate) fn enter(&self, call: &str, token: &CancellationToken) -> Entered<'_> {
        self.calls().insert(call.to_owned(), token.clone());
        Entered { running: self, call: call.to_owned() }
    }

    /// Whether one runs.
    pub(crate) fn has(&self, call: &str) -> bool {
        self.calls().contains_key(call)
    }

    /// Stops a call, if it still runs.
    pub(super) fn stop(&self, call: &str) {
        let token = self.calls().get(call).cloned();
        if let Some(token) = token {
            token.cancel();
        }
    }

    fn calls(&self) -> MutexGuard<'_, FxHashMap<String, CancellationToken>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that can be stopped.
pub(crate) struct Entered<'a> {
    running: &'a Running,
    call: String,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.running.calls().remove(&self.call);
    }
}
