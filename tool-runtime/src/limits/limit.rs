//! What is allowed, and what is said of a call that is not.

use std::fmt;
use std::time::Duration;

use crate::concurrency::in_words;
use crate::{ErrorKind, ToolError};

/// How many calls are admitted: so many in a time, or so many at all.
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::limits::Limit;
///
/// let often = Limit::per_minute(10);
/// assert_eq!(often, Limit::per(10, Duration::from_secs(60)));
/// let in_all = Limit::total(100);
/// # let _ = in_all;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub(super) calls: u32,
    /// Without one, the calls are all there are.
    pub(super) period: Option<Duration>,
}

impl Limit {
    /// So many calls in a time. They may come all at once; then one more is admitted whenever its share of the time
    /// has passed.
    #[must_use]
    pub const fn per(calls: u32, period: Duration) -> Self {
        Self { calls, period: Some(period) }
    }

    /// So many calls a second.
    #[must_use]
    pub const fn per_second(calls: u32) -> Self {
        Self::per(calls, Duration::from_secs(1))
    }

    /// So many calls a minute.
    #[must_use]
    pub const fn per_minute(calls: u32) -> Self {
        Self::per(calls, Duration::from_secs(60))
    }

    /// So many calls and no more.
    #[must_use]
    pub const fn total(calls: u32) -> Self {
        Self { calls, period: None }
    }
}

/// A call that was not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exceeded {
    /// When it would be admitted if nothing else came; nothing if never.
    pub retry_after: Option<Duration>,
    /// What was limited.
    pub scope: LimitScope,
}

/// What a limit is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitScope {
    /// A tool, over all conversations.
    Tool,
    /// A tool in one conversation.
    ToolInConversation,
    /// A conversation, over all tools.
    Conversation,
}

impl Exceeded {
    /// The answer to the call, in words for the model, and with the time to come back for programs.
    #[must_use]
    pub fn error(self, tool: &str) -> ToolError {
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

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.retry_after {
            Some(time) => write!(f, "called too often; try again in {}", in_words(time)),
            None => f.write_str("called too often"),
        }
    }
}

impl std::error::Error for Exceeded {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_told_when_to_come_back() {
        let soon = Exceeded { retry_after: Some(Duration::from_millis(1_300)), scope: LimitScope::Tool };
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
            let never = Exceeded { retry_after: None, scope }.error("mail.send");
            assert_eq!((never.kind, never.message.as_str()), (ErrorKind::RateLimited, message));
            assert_eq!(never.retry_after(), None);
        }
    }
}
