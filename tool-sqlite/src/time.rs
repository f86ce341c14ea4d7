//! Conversion of times to the integers stored in a file: microseconds, since the Unix epoch for timestamps.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Converts a duration to microseconds.
#[must_use]
pub fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Converts microseconds to a duration.
#[must_use]
pub fn from_micros(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// Converts a time to a timestamp.
#[must_use]
pub fn stamp(at: SystemTime) -> i64 {
    micros(at.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Converts a timestamp to a time.
#[must_use]
pub fn from_stamp(stamp: i64) -> SystemTime {
    UNIX_EPOCH + from_micros(stamp)
}
