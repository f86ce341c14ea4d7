//! What has come under one limit.

use std::time::Duration;

use tokio::time::Instant;

use super::Limit;

/// When to come back if only questions that are open stand in the way.
const WHILE_ASKED: Duration = Duration::from_secs(10);

/// What has come under one limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) calls: u32,
    /// People who are being asked about a call that would be counted.
    asked: u32,
    /// When all that was taken will have come back: a bucket of tokens, kept as the time at which it is full.
    full_at: Option<Instant>,
}

impl Count {
    /// The count without one call that did not run after all.
    pub(super) fn without_call(self, limit: &Limit) -> Self {
        match limit.period {
            None => Self { calls: self.calls.saturating_sub(1), ..self },
            Some(period) => {
                let share = period.checked_div(limit.calls).unwrap_or_default();
                Self { full_at: self.full_at.and_then(|time| time.checked_sub(share)), ..self }
            }
        }
    }

    /// The count with one more question, if the limit allows its call and those of the questions that are open. If not,
    /// when it will, and nothing if never.
    pub(super) fn after_question(self, limit: &Limit, now: Instant) -> Result<Self, Option<Duration>> {
        let mut after = self.after_call(limit, now)?;
        for _ in 0..self.asked {
            // The open ones may be refused, and nobody knows when.
            after = after.after_call(limit, now).map_err(|wait| wait.or(Some(WHILE_ASKED)))?;
        }
        Ok(Self { asked: self.asked.saturating_add(1), ..self })
    }

    /// The count with one open question less.
    pub(super) fn without_question(self) -> Self {
        Self { asked: self.asked.saturating_sub(1), ..self }
    }

    /// The count with one more call, if the limit allows it; if not, when it will, and nothing if never.
    pub(super) fn after_call(self, limit: &Limit, now: Instant) -> Result<Self, Option<Duration>> {
        let never = None;
        let Some(period) = limit.period else {
            return if self.calls < limit.calls { Ok(Self { calls: self.calls + 1, ..self }) } else { Err(never) };
        };
        let share = period.checked_div(limit.calls).ok_or(never)?;
        let full_at = self.full_at.map_or(now, |time| time.max(now)).checked_add(share).ok_or(never)?;
        match (full_at - now).checked_sub(period) {
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

        /// Whenever calls come, no time has more than a full bucket and what flowed in meanwhile; and who waits as
        /// long as it is told is admitted.
        #[test]
        fn a_rate_is_kept(calls in 1..20_u32, pauses in proptest::collection::vec(0..3_000_u64, 1..200)) {
            let limit = Limit::per_second(calls);
            let start = Instant::now();
            let (mut now, mut count, mut admitted) = (start, Count::default(), 0_u128);
            for pause in pauses {
                now += Duration::from_micros(pause * 100);
                match count.after_call(&limit, now) {
                    Ok(after) => {
                        count = after;
                        admitted += 1;
                    }
                    Err(retry_after) => {
                        let wait = retry_after.unwrap();
                        prop_assert!(wait <= SECOND && count.after_call(&limit, now + wait).is_ok());
                    }
                }
                let share = (SECOND / calls).as_nanos();
                prop_assert!(admitted <= u128::from(calls) + 1 + (now - start).as_nanos() / share);
            }
        }
    }
}
