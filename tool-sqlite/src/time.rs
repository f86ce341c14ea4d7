//! Times as a file has them: microseconds, since 1970 if they are moments.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A duration, for the file.
#[must_use]
pub fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// A duration, from the file.
#[must_use]
pub fn from_micros(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// A moment, for the file.
#[must_use]
pub fn stamp(at: SystemTime) -> i64 {
    micros(at.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// A moment, from the file.
#[must_use]
pub fn from_stamp(stamp: i64) -> SystemTime {
    UNIX_EPOCH + from_micros(stamp)
}
