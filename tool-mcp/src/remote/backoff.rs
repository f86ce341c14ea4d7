//! When a server is tried again.

use std::time::Duration;

/// A connection, or a stream of one, that lived this long was well: when it is lost, the next one is made at once.
pub(super) const STEADY: Duration = Duration::from_secs(10);
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// Longer and longer pauses, each of them a little longer or shorter by chance: what went down for all at once should not
/// be asked by all at once.
#[derive(Default)]
pub(super) struct Backoff {
    failures: u32,
    /// The last connection was forgotten.
    forgotten: bool,
}

impl Backoff {
    /// There was no connection.
    pub(super) fn failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// There was a connection for a while. A server that has only forgotten it is there, and calls wait for the next
    /// one; unless it does so again and again.
    pub(super) fn lost(&mut self, lived: Duration, forgotten: bool) {
        if lived > STEADY || (forgotten && !self.forgotten) {
            self.failures = 0;
        } else {
            self.failed();
        }
        self.forgotten = forgotten;
    }

    /// How long to wait now; not at all after the first loss.
    pub(super) fn pause(&self) -> Duration {
        let Some(doublings) = self.failures.checked_sub(1) else { return Duration::ZERO };
        let pause = FIRST.saturating_mul(1 << doublings.min(16)).min(LONGEST);
        // Without chance all clients come at once, which is no reason to fail.
        let chance = getrandom::u32().unwrap_or(u32::MAX / 2);
        pause.mul_f64(0.5 + f64::from(chance) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.pause(), Duration::ZERO);
        for shortest in [250, 500, 1_000, 2_000] {
            backoff.failed();
            let pause = backoff.pause();
            assert!((shortest..=shortest * 3).contains(&pause.as_millis()), "{pause:?}");
        }
        (0..100).for_each(|_| backoff.failed());
        assert!(backoff.pause() <= LONGEST.mul_f64(1.5));
        backoff.lost(STEADY * 2, false);
        assert_eq!(backoff.pause(), Duration::ZERO);
        backoff.lost(STEADY / 2, false);
        assert_ne!(backoff.pause(), Duration::ZERO);
    }

    #[test]
    fn to_be_forgotten_once_costs_no_time() {
        let mut backoff = Backoff::default();
        backoff.failed();
        backoff.lost(Duration::ZERO, true);
        assert_eq!(backoff.pause(), Duration::ZERO);
        backoff.lost(Duration::ZERO, true);
        assert_ne!(backoff.pause(), Duration::ZERO);
    }
}
