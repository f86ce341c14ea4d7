//! Token buckets and counters: the usage that a limit is checked against.
//!
//! `governor` 0.10 was tried instead. It cannot check several limits and charge all of them or none, return a token for
//! a call that did not run, count a total, or follow tokio's paused clock without a clock of our own. It adds 24 crates,
//! and its keyed check takes 80 ns; a call under one limit takes 50 ns here.

use std::time::Duration;

use tokio::time::Instant;

use super::Limit;

/// The retry delay if only open questions block the call.
const WHILE_ASKED: Duration = Duration::from_secs(10);

/// The usage of one limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LimitUsage {
    pub(super) calls: u32,
    /// The number of open questions, each about a call that would count towards the limit.
    asked: u32,
    /// The time at which the token bucket is full again. `None` for a full bucket.
    full_at: Option<Instant>,
}

impl LimitUsage {
    /// Returns the usage without one counted call.
    pub(super) fn without_call(self, limit: &Limit) -> Self {
        match limit.rate {
            None => Self { calls: self.calls.saturating_sub(1), ..self },
            Some(rate) => {
                let share = rate.share.unwrap_or_default();
                Self { full_at: self.full_at.and_then(|time| time.checked_sub(share)), ..self }
            }
        }
    }

    /// Returns the usage with one more open question, if the limit allows its call in addition to the calls of all
    /// open questions. The error is the time to wait, or `None` if the call can never be allowed.
    pub(super) fn after_question(self, limit: &Limit, now: Instant) -> Result<Self, Option<Duration>> {
        let mut after = self.after_call(limit, now)?;
        for _ in 0..self.asked {
            // An open question may be refused at any time, so its call does not make the limit final.
            after = after.after_call(limit, now).map_err(|wait| wait.or(Some(WHILE_ASKED)))?;
        }
        Ok(Self { asked: self.asked.saturating_add(1), ..self })
    }

    /// Returns the usage with one open question fewer.
    pub(super) fn without_question(self) -> Self {
        Self { asked: self.asked.saturating_sub(1), ..self }
    }

    /// Returns the usage with one more call, if the limit allows it. The error is the time to wait, or `None` if the call
    /// can never be allowed.
    pub(super) fn after_call(self, limit: &Limit, now: Instant) -> Result<Self, Option<Duration>> {
        let never = None;
        let Some(rate) = limit.rate else {
            return if self.calls < limit.calls { Ok(Self { calls: self.calls + 1, ..self }) } else { Err(never) };
        };
        let share = rate.share.ok_or(never)?;
        let full_at = self.full_at.map_or(now, |time| time.max(now)).checked_add(share).ok_or(never)?;
        match (full_at - now).checked_sub(rate.period) {
            None | Some(Duration::ZERO) => Ok(Self { full_at: Some(full_at), ..self }),
            Some(wait) => Err(Some(wait)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::properties;

    const SECOND: Duration = Duration::from_secs(1);

    proptest! {
        #![proptest_config(properties(200))]

        /// Over any interval, at most a full bucket plus the refill is admitted. A caller that waits for the reported
        /// time is admitted.
        #[test]
        fn never_admits_more_than_a_full_bucket_and_its_refill(calls in 1..20_u32, pauses in proptest::collection::vec(0..3_000_u64, 1..200)) {
            let limit = Limit::per_second(calls);
            let start = Instant::now();
            let (mut now, mut usage, mut admitted) = (start, LimitUsage::default(), 0_u128);
            for pause in pauses {
                now += Duration::from_micros(pause * 100);
                match usage.after_call(&limit, now) {
                    Ok(after) => {
                        usage = after;
                        admitted += 1;
                    }
                    Err(retry_after) => {
                        let wait = retry_after.unwrap();
                        prop_assert!(wait <= SECOND && usage.after_call(&limit, now + wait).is_ok());
                    }
                }
                let share = (SECOND / calls).as_nanos();
                prop_assert!(admitted <= u128::from(calls) + 1 + (now - start).as_nanos() / share);
            }
        }
    }
}
