//! Exponential backoff between attempts to connect.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// A connection or stream that lived this long was healthy. When it is lost, the next attempt starts at once.
pub(super) const STEADY: Duration = Duration::from_secs(10);
/// The bounds of the delay. Jitter adds up to as much again, so that clients of a server that went down do not all come
/// back at the same time.
const FIRST: Duration = Duration::from_millis(350);
const LONGEST: Duration = Duration::from_secs(40);

/// The delay before the next attempt. It doubles with each failure.
pub(super) struct Backoff {
    delays: ExponentialBackoff,
    pause: Duration,
    /// The server had forgotten the last connection.
    forgotten: bool,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { delays: delays(), pause: Duration::ZERO, forgotten: false }
    }
}

impl Backoff {
    /// Records a failed attempt to connect.
    pub(super) fn failed(&mut self) {
        self.pause = self.delays.next().unwrap_or(LONGEST);
    }

    /// Records a lost connection. A server that has forgotten a connection is up, so the next attempt starts at once,
    /// unless the server had forgotten the previous connection too.
    pub(super) fn lost(&mut self, lived: Duration, forgotten: bool) {
        if lived > STEADY || (forgotten && !self.forgotten) {
            *self = Self::default();
        } else {
            self.failed();
        }
        self.forgotten = forgotten;
    }

    /// Returns the time to wait before the next attempt, zero after the loss of a healthy connection.
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }
}

fn delays() -> ExponentialBackoff {
    let delays = ExponentialBuilder::new().with_min_delay(FIRST).with_max_delay(LONGEST);
    delays.without_max_times().with_jitter().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_the_pause_up_to_a_limit() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.pause(), Duration::ZERO);
        for shortest in [250, 500, 1_000, 2_000] {
            backoff.failed();
            let pause = backoff.pause();
            assert!((shortest..=shortest * 3).contains(&pause.as_millis()), "{pause:?}");
        }
        (0..100).for_each(|_| backoff.failed());
        assert!(backoff.pause() <= LONGEST * 2);
        backoff.lost(STEADY * 2, false);
        assert_eq!(backoff.pause(), Duration::ZERO);
        backoff.lost(STEADY / 2, false);
        assert_ne!(backoff.pause(), Duration::ZERO);
    }

    #[test]
    fn reconnects_at_once_when_forgotten_for_the_first_time() {
        let mut backoff = Backoff::default();
        backoff.failed();
        backoff.lost(Duration::ZERO, true);
        assert_eq!(backoff.pause(), Duration::ZERO);
        backoff.lost(Duration::ZERO, true);
        assert_ne!(backoff.pause(), Duration::ZERO);
    }
}
