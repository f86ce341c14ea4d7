//! The time after which a retry may succeed.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A time to wait, in milliseconds. It fits into padding of the error: with a [`Duration`], every result would be larger,
/// including those of calls that succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub(crate) struct RetryAfter(NonZeroU32);

impl From<Duration> for RetryAfter {
    /// Rounds up, so that a retry is never too early, and saturates.
    fn from(time: Duration) -> Self {
        let milliseconds = u32::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX);
        Self(NonZeroU32::new(milliseconds).unwrap_or(NonZeroU32::MIN))
    }
}

impl From<RetryAfter> for Duration {
    fn from(time: RetryAfter) -> Self {
        Self::from_millis(time.0.get().into())
    }
}

impl From<u64> for RetryAfter {
    fn from(milliseconds: u64) -> Self {
        Duration::from_millis(milliseconds).into()
    }
}

impl From<RetryAfter> for u64 {
    fn from(time: RetryAfter) -> Self {
        time.0.get().into()
    }
}
