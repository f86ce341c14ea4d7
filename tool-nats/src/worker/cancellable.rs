//! Cancellable calls and jobs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tool_runtime::CancellationToken;

/// Cancellation tokens of long calls, by reply subject, and of jobs, by id.
#[derive(Default)]
pub(crate) struct CancellableCalls {
    calls: Mutex<FxHashMap<String, CancellationToken>>,
}

impl CancellableCalls {
    /// Registers a call until the guard is dropped.
    pub(crate) fn register(&self, call: &str, token: &CancellationToken) -> CancellableGuard<'_> {
        self.calls().insert(call.to_owned(), token.clone());
        CancellableGuard { running: self, call: call.to_owned() }
    }

    /// Returns `true` if the call is registered.
    pub(crate) fn contains(&self, call: &str) -> bool {
        self.calls().contains_key(call)
    }

    /// Cancels a call, if it is registered.
    pub(super) fn cancel(&self, call: &str) {
        let token = self.calls().get(call).cloned();
        if let Some(token) = token {
            token.cancel();
        }
    }

    fn calls(&self) -> MutexGuard<'_, FxHashMap<String, CancellationToken>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard that unregisters a call when dropped.
pub(crate) struct CancellableGuard<'a> {
    running: &'a CancellableCalls,
    call: String,
}

impl Drop for CancellableGuard<'_> {
    fn drop(&mut self) {
        self.running.calls().remove(&self.call);
    }
}
