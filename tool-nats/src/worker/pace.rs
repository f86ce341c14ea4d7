//! Whether a tool's calls are so short that a task for each would cost more than the call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is longer would hold up the calls behind it.
const SHORT: Duration = Duration::from_micros(50);

/// How long a tool takes until it first waits. It is watched all the time, so that one that changes is found out.
#[derive(Debug, Default)]
pub(super) struct Pace {
    is_long: AtomicBool,
}

impl Pace {
    /// Whether the next call is expected to be short.
    pub(super) fn is_short(&self) -> bool {
        !self.is_long.load(Ordering::Relaxed)
    }

    /// Does something, and remembers whether it took long.
    pub(super) fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        let is_long = started.elapsed() > SHORT;
        if is_long != self.is_long.load(Ordering::Relaxed) {
            self.is_long.store(is_long, Ordering::Relaxed);
        }
        done
    }
}
