//! Times as the store has them: milliseconds since 1970.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// The time as the store has it.
#[must_use]
pub fn stamp(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis()
}

/// A time of the store. What is no time, which nobody has written, becomes 1970.
#[must_use]
pub fn from_stamp(stamp: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(stamp).unwrap_or_default()
}

/// A time so many seconds after 1970, as the kernel counts them.
#[must_use]
pub fn from_seconds(seconds: u64) -> DateTime<Utc> {
    i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0)).unwrap_or_default()
}

/// So many hours before a time.
#[must_use]
pub fn hours_before(now: DateTime<Utc>, hours: u32) -> DateTime<Utc> {
    now.checked_sub_signed(TimeDelta::hours(hours.into())).unwrap_or_default()
}

/// How long something took: `7.5 ms`, `2.0 s`.
#[must_use]
pub fn took(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// A duration as people say it: `3 days 4 h`, `12 min`.
#[must_use]
pub fn in_words(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (1, hours, _) => format!("1 day {hours} h"),
        (days, hours, _) => format!("{days} days {hours} h"),
    }
}
