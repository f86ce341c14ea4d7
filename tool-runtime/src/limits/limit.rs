//! Limits, and the error of a call that exceeds one.

use std::fmt;
use std::time::Duration;

use crate::concurrency::in_words;
use crate::{ErrorKind, ToolError};

/// A maximum number of calls: per period, or in total.
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::limits::Limit;
///
/// let rate = Limit::per_minute(10);
/// assert_eq!(rate, Limit::per(10, Duration::from_secs(60)));
/// let total = Limit::total(100);
/// # let _ = total;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub(super) calls: u32,
    /// `None` for a total.
    pub(super) rate: Option<LimitRate>,
}

/// The refill rate of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LimitRate {
    pub(super) period: Duration,
    /// The time in which one token is refilled. `None` if no call is allowed.
    pub(super) share: Option<Duration>,
}

impl Limit {
    /// Allows `calls` calls per period.
    ///
    /// The limit is a token bucket: all calls may come at once, and each token is refilled after its share of the
    /// period.
    #[must_use]
    pub const fn per(calls: u32, period: Duration) -> Self {
        Self { calls, rate: Some(LimitRate { period, share: period.checked_div(calls) }) }
    }

    /// Allows `calls` calls per second.
    #[must_use]
    pub const fn per_second(calls: u32) -> Self {
        Self::per(calls, Duration::from_secs(1))
    }

    /// Allows `calls` calls per minute.
    #[must_use]
    pub const fn per_minute(calls: u32) -> Self {
        Self::per(calls, Duration::from_secs(60))
    }

    /// Allows `calls` calls in total.
    #[must_use]
    pub const fn total(calls: u32) -> Self {
        Self { calls, rate: None }
    }
}

/// The error of a call that exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitExceeded {
    /// The time after which the call would be admitted if no other call came first. `None` if it never will be.
    pub retry_after: Option<Duration>,
    /// The kind of limit that was exceeded.
    pub scope: LimitScope,
}

/// The calls that count towards a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitScope {
    /// Calls of one tool, over all conversations.
    Tool,
    /// Calls of one tool in one conversation.
    ToolInConversation,
    /// Calls of all tools in one conversation.
    Conversation,
}

impl LimitExceeded {
    /// Returns the call's error: a message for the model, and the retry delay for programs.
    pub(crate) fn error(self, tool: &str) -> ToolError {
        let what = match self.scope {
            LimitScope::Tool | LimitScope::ToolInConversation => format!("`{tool}` was called too often."),
            LimitScope::Conversation => format!("`{tool}` was not run: this conversation calls tools too often."),
        };
        let advice = match (self.retry_after, self.scope) {
            (Some(time), _) => format!("Try again in {}.", in_words(time)),
            (None, LimitScope::Tool) => "It cannot be called any more.".to_owned(),
            (None, LimitScope::ToolInConversation) => "It cannot be called any more in this conversation.".to_owned(),
            (None, LimitScope::Conversation) => "No tool can be called in it any more.".to_owned(),
        };
        ToolError::new(ErrorKind::RateLimited, format!("{what} {advice}")).with_retry_after(self.retry_after)
    }
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.retry_after {
            Some(time) => write!(f, "called too often; try again in {}", in_words(time)),
            None => f.write_str("called too often"),
        }
    }
}

impl std::error::Error for LimitExceeded {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_model_when_to_retry() {
        let soon = LimitExceeded { retry_after: Some(Duration::from_millis(1_300)), scope: LimitScope::Tool };
        let soon = soon.error("mail.send");
        assert_eq!(soon.message, "`mail.send` was called too often. Try again in 2 s.");
        assert_eq!(soon.retry_after(), Some(Duration::from_millis(1_300)));
        for (scope, message) in [
            (LimitScope::Tool, "`mail.send` was called too often. It cannot be called any more."),
            (
                LimitScope::ToolInConversation,
                "`mail.send` was called too often. It cannot be called any more in this conversation.",
            ),
            (
                LimitScope::Conversation,
                "`mail.send` was not run: this conversation calls tools too often. No tool can be called in it any more.",
            ),
        ] {
            let never = LimitExceeded { retry_after: None, scope }.error("mail.send");
            assert_eq!((never.kind, never.message.as_str()), (ErrorKind::RateLimited, message));
            assert_eq!(never.retry_after(), None);
        }
    }
}
