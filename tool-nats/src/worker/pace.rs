//! Measurement of whether a tool's calls are too short to be worth a task each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest time that a call may block the reader of its subject.
const MAX_BLOCKING: Duration = Duration::from_micros(50);

/// The time that calls of a tool run until they first yield. Measured continuously, to follow changes.
#[derive(Debug, Default)]
pub(super) struct CallPace {
    is_long: AtomicBool,
}

impl CallPace {
    /// Returns `true` if the next call is expected to be short.
    pub(super) fn is_short(&self) -> bool {
        !self.is_long.load(Ordering::Relaxed)
    }

    /// Runs something and records whether it took long.
    pub(super) fn measure<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        let is_long = started.elapsed() > MAX_BLOCKING;
        if is_long != self.is_long.load(Ordering::Relaxed) {
            self.is_long.store(is_long, Ordering::Relaxed);
        }
        done
    }
}
