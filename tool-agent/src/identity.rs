//! What tells calls apart.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Message, ModelCall};

/// Gives ids to calls that have none of their own.
///
/// Some providers give no ids, and some count from 0 in every answer. A journal knows a call by its id, and answers one
/// that it knows as it was answered before: in a history, and after a restart, no two may have the same.
pub(crate) struct Identities {
    /// Another one in each process.
    process: u64,
    given: AtomicU64,
}

impl Default for Identities {
    fn default() -> Self {
        Self { process: RandomState::new().hash_one(std::process::id()), given: AtomicU64::new(0) }
    }
}

impl Identities {
    /// Sees to it that the calls of an answer have ids that nothing in its history has.
    pub(crate) fn tell_apart(&self, calls: &mut [ModelCall], history: &[Message]) {
        for at in 0..calls.len() {
            let (earlier, [call, ..]) = calls.split_at_mut(at) else { return };
            let is_known = call.id.is_empty()
                || earlier.iter().any(|other| other.id == call.id)
                || history.iter().flat_map(calls_of).any(|other| other.id == call.id);
            if is_known {
                let number = self.given.fetch_add(1, Ordering::Relaxed);
                call.id = format!("call_{:016x}_{number}", self.process);
            }
        }
    }
}

fn calls_of(message: &Message) -> &[ModelCall] {
    match message {
        Message::Assistant(assistant) => &assistant.calls,
        Message::User { .. } | Message::Tools { .. } => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Assistant;

    #[test]
    fn no_two_calls_have_one_id() {
        let call = |id: &str| ModelCall::new(id, "t", "{}");
        let before = Assistant { calls: vec![call("call_0")], ..Assistant::default() };
        let history = [Message::user("hello"), Message::Assistant(before)];
        let mut calls = ["call_0", "call_1", "call_1", "", ""].map(call);
        Identities::default().tell_apart(&mut calls, &history);
        let mut ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).chain(["call_0"]).collect();
        assert_eq!(ids[1], "call_1", "what is fine stays as it is");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 6, "{ids:?}");
        assert!(ids.iter().all(|id| !id.is_empty() && id.len() <= 40), "{ids:?}");
    }
}
