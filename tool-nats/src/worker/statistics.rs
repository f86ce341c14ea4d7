//! What NATS's own tools are told of an endpoint.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts of one tool.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    requests: AtomicU64,
    errors: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Statistics {
    pub(super) fn count(&self, success: bool, took: Duration) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.errors.fetch_add(u64::from(!success), Ordering::Relaxed);
        self.nanoseconds.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    pub(super) fn nanoseconds(&self) -> u64 {
        self.nanoseconds.load(Ordering::Relaxed)
    }
}
