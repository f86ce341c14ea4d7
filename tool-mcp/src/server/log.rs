//! What a client wants to hear of a handler's log.

#![expect(deprecated, reason = "the protocol wants sampling, roots and logging to go; clients still have them")]

use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::model::LoggingLevel;

/// The least grave level that a client of the 2025 generation has asked for.
pub(super) struct Level(AtomicU8);

impl Default for Level {
    /// Until a client says otherwise, it is for us to choose.
    fn default() -> Self {
        Self(AtomicU8::new(grade(LoggingLevel::Info)))
    }
}

impl Level {
    pub(super) fn set(&self, level: LoggingLevel) {
        self.0.store(grade(level), Ordering::Relaxed);
    }

    pub(super) fn includes(&self, level: LoggingLevel) -> bool {
        grade(level) >= self.0.load(Ordering::Relaxed)
    }
}

/// How grave a level is.
pub(super) fn grade(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
