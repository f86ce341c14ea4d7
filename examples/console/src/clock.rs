//! Timestamps of the database: milliseconds since the Unix epoch.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// Converts a time to a timestamp.
#[must_use]
pub fn stamp(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis()
}

/// Converts a timestamp to a time. An invalid one becomes the epoch.
#[must_use]
pub fn from_stamp(stamp: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(stamp).unwrap_or_default()
}

/// Converts Unix time in seconds.
#[must_use]
pub fn from_seconds(seconds: u64) -> DateTime<Utc> {
    i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0)).unwrap_or_default()
}

/// Returns the time some hours earlier.
#[must_use]
pub fn hours_before(now: DateTime<Utc>, hours: u32) -> DateTime<Utc> {
    now.checked_sub_signed(TimeDelta::hours(hours.into())).unwrap_or_default()
}

/// Formats a duration: `7.5 ms`, `2.0 s`.
#[must_use]
pub fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// Formats a duration for people: `3 days 4 h`, `12 min`.
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
