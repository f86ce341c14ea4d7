//! Why a model did not answer.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Stop;

/// Why a model did not answer, or not to the end.
///
/// Its words may be shown and logged: whoever makes one keeps keys out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelError {
    /// What kind of failure it is.
    pub kind: ModelErrorKind,
    /// In words, for people.
    pub message: Cow<'static, str>,
    /// How long the provider asks to wait before another request.
    pub retry_after: Option<Duration>,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Too many requests (429), or nothing is left of what was paid for.
    RateLimited,
    /// The provider has failed or has too much to do (5xx).
    Server,
    /// The provider cannot be reached.
    Unreachable,
    /// The answer broke off before its end.
    Cut,
    /// The answer has no word in it: its length was used up before, or the provider keeps it back.
    Empty,
    /// No answer came in time.
    TimedOut,
    /// The key is missing or refused (401, 403).
    RefusedKey,
    /// The conversation is longer than the model can read.
    TooLong,
    /// The provider does not take the request (4xx).
    Rejected,
    /// What came is no answer of this provider.
    Unreadable,
}

impl ModelErrorKind {
    /// Whether the same request may be answered if it is sent again.
    #[must_use]
    pub fn may_pass(self) -> bool {
        match self {
            Self::RateLimited | Self::Server | Self::Unreachable | Self::Cut | Self::TimedOut => true,
            Self::RefusedKey | Self::TooLong | Self::Rejected | Self::Unreadable | Self::Empty => false,
        }
    }
}

impl ModelError {
    /// A failure of a kind, in words.
    pub fn new(kind: ModelErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }

    /// The provider does not take the request.
    pub fn rejected(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ModelErrorKind::Rejected, message)
    }

    /// The answer broke off.
    #[must_use]
    pub fn cut() -> Self {
        Self::new(ModelErrorKind::Cut, "the model's answer broke off before its end")
    }

    /// The answer has ended in this way before it had begun.
    pub(crate) fn empty(stop: Stop) -> Self {
        Self::new(
            ModelErrorKind::Empty,
            match stop {
                Stop::Done => "the model has said nothing",
                Stop::Length => "the model has said nothing: its answer was as long as it may be before the first word",
                Stop::Filtered => {
                    "the model has said nothing: its provider keeps the answer back, or it will not answer"
                }
            },
        )
    }

    /// The same, with the time that the provider asks to wait, if it says one.
    #[must_use]
    pub fn with_retry_after(mut self, wait: impl Into<Option<Duration>>) -> Self {
        self.retry_after = wait.into();
        self
    }

    /// Whether the same request may be answered if it is sent again.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        self.kind.may_pass()
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}
