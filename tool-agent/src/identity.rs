//! What tells calls apart.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ModelCall;

/// Gives each call an id that no other has, in whatever history.
///
/// Some providers give no ids, some count from 0 in every answer, and none promises that an id is new. A journal knows a
/// call by its id, and answers one that it knows as it was answered before: also when the conversation was deleted and
/// begun anew, or is another process'.
pub(crate) struct Identities {
    /// Another one for each agent in each process.
    giver: u64,
    given: AtomicU64,
}

impl Default for Identities {
    fn default() -> Self {
        Self { giver: RandomState::new().hash_one(std::process::id()), given: AtomicU64::new(0) }
    }
}

impl Identities {
    /// Gives the calls of an answer ids of their own. What their provider calls them is in what it gave along.
    pub(crate) fn give(&self, calls: &mut [ModelCall]) {
        for call in calls {
            let number = self.given.fetch_add(1, Ordering::Relaxed);
            call.id = format!("call_{:016x}_{number}", self.giver);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_calls_have_one_id() {
        let mut ids = HashSet::new();
        for identities in [Identities::default(), Identities::default()] {
            for _ in 0..2 {
                let mut calls = ["call_0", "call_0", ""].map(|id| ModelCall::new(id, "t", "{}"));
                identities.give(&mut calls);
                ids.extend(calls.map(|call| call.id));
            }
        }
        assert_eq!(ids.len(), 12, "{ids:?}");
        assert!(ids.iter().all(|id| id.len() <= 40), "{ids:?}");
    }
}
