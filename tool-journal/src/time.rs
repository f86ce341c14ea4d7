//! Times as the file has them: microseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

pub(crate) fn from_micros(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

pub(crate) fn stamp(at: SystemTime) -> i64 {
    micros(at.duration_since(UNIX_EPOCH).unwrap_or_default())
}

pub(crate) fn from_stamp(stamp: i64) -> SystemTime {
    UNIX_EPOCH + from_micros(stamp)
}
