//! The stage of a call, shared between the dispatcher and the holder of its approval.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// No dispatcher has been asked to run the call.
const NEW: u8 = 0;
/// A dispatcher prepares the call.
const CLAIMED: u8 = 1;
const STARTED: u8 = 2;
/// The call is over, or its approval was returned. The handler must not start any more.
const WITHDRAWN: u8 = 3;

/// The stage of a call. Clones share it.
///
/// A handler either starts, which spends its approval, or is prevented from starting for good, so that the approval can
/// be used again. Both go through this one atomic, so that they exclude each other even if two threads race.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallStage(Arc<AtomicU8>);

impl CallStage {
    /// Marks the call as claimed: from here on a dispatcher decides whether the handler starts.
    pub(crate) fn claim(&self) {
        self.change(NEW, CLAIMED);
    }

    /// Enters the handler. Returns `false` if the approval was withdrawn: the handler must not run then.
    #[must_use]
    pub(crate) fn start(&self) -> bool {
        let start = |stage| (stage != WITHDRAWN).then_some(STARTED);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, start).is_ok()
    }

    /// Reverts [`start`](Self::start): the handler was not entered after all.
    pub(crate) fn not_entered(&self) {
        self.change(STARTED, CLAIMED);
    }

    pub(crate) fn has_started(&self) -> bool {
        self.0.load(Ordering::Acquire) == STARTED
    }

    /// Prevents the handler from starting. Returns `false` if it has started, or if no dispatcher has claimed the call,
    /// which may then run in another way.
    pub(crate) fn withdraw(&self) -> bool {
        let withdraw = |stage| matches!(stage, CLAIMED | WITHDRAWN).then_some(WITHDRAWN);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, withdraw).is_ok()
    }

    fn change(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// All stages are equal, so that a question does not depend on how far its call has come.
impl PartialEq for CallStage {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_spent_or_withdrawn_and_never_both() {
        let stage = CallStage::default();
        assert!(!stage.withdraw(), "a call that no dispatcher has claimed may run");
        stage.claim();
        assert!(stage.clone().withdraw());
        assert!(!stage.start() && !stage.has_started());
        assert!(stage.withdraw(), "it stays withdrawn");

        let stage = CallStage::default();
        stage.claim();
        assert!(stage.start() && stage.has_started());
        assert!(!stage.withdraw());
        stage.not_entered();
        assert!(!stage.has_started() && stage.withdraw());
    }
}
