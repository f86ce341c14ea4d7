//! Unique ids for calls.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ModelCall;

/// A generator of call ids that are unique across all histories.
///
/// Some providers send no ids, some count from 0 in every response, and none guarantees uniqueness. A journal
/// identifies a call by its id and replays the result of an id that it knows, even if the conversation was deleted and
/// started again, or belongs to another process.
pub(crate) struct CallIds {
    /// A random number for each agent in each process.
    generator: u64,
    assigned: AtomicU64,
}

impl Default for CallIds {
    fn default() -> Self {
        Self { generator: RandomState::new().hash_one(std::process::id()), assigned: AtomicU64::new(0) }
    }
}

impl CallIds {
    /// Assigns new ids to the calls of a response. The provider's own ids are part of its opaque data.
    pub(crate) fn assign(&self, calls: &mut [ModelCall]) {
        for call in calls {
            let number = self.assigned.fetch_add(1, Ordering::Relaxed);
            call.id = format!("call_{:016x}_{number}", self.generator);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn assigns_each_call_a_unique_id() {
        let mut ids = HashSet::new();
        for call_ids in [CallIds::default(), CallIds::default()] {
            for _ in 0..2 {
                let mut calls = ["call_0", "call_0", ""].map(|id| ModelCall::new(id, "t", "{}"));
                call_ids.assign(&mut calls);
                ids.extend(calls.map(|call| call.id));
            }
        }
        assert_eq!(ids.len(), 12, "{ids:?}");
        assert!(ids.iter().all(|id| id.len() <= 40), "{ids:?}");
    }
}
