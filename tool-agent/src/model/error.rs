//! Errors of a model.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::StopReason;

/// An error of a model request.
///
/// The message may be shown and logged; it must not contain API keys.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelError {
    /// The kind of error.
    pub kind: ModelErrorKind,
    /// A message for users.
    pub message: Cow<'static, str>,
    /// The delay that the provider asks for before another request.
    pub retry_after: Option<Duration>,
}

/// The kinds of [`ModelError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Too many requests (429), or the quota is exhausted.
    RateLimited,
    /// The provider failed or is overloaded (5xx).
    Server,
    /// The provider cannot be reached.
    Unreachable,
    /// The response was cut off.
    Cut,
    /// The response is empty: its length limit was used up before, or the provider withheld it.
    Empty,
    /// The request timed out.
    TimedOut,
    /// The key is missing or refused (401, 403).
    RefusedKey,
    /// The conversation exceeds the model's context window.
    TooLong,
    /// The provider rejected the request (4xx).
    Rejected,
    /// The response is not in the provider's format.
    Unreadable,
}

impl ModelErrorKind {
    /// Returns `true` if the same request may succeed later.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited | Self::Server | Self::Unreachable | Self::Cut | Self::TimedOut => true,
            Self::RefusedKey | Self::TooLong | Self::Rejected | Self::Unreadable | Self::Empty => false,
        }
    }
}

impl ModelError {
    /// Creates an error.
    pub fn new(kind: ModelErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }

    /// Creates an error for a request that the provider rejected.
    pub fn rejected(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ModelErrorKind::Rejected, message)
    }

    /// Creates an error for a response that was cut off.
    #[must_use]
    pub fn cut() -> Self {
        Self::new(ModelErrorKind::Cut, "the model's response was cut off")
    }

    /// Creates an error for an empty response that ended for this reason.
    pub(crate) fn empty(stop: StopReason) -> Self {
        Self::new(
            ModelErrorKind::Empty,
            match stop {
                StopReason::Done => "the model's response is empty",
                StopReason::Length => {
                    "the model's response is empty: it reached the length limit before the first word"
                }
                StopReason::Filtered => "the model's response is empty: the provider withheld it, or the model refused",
            },
        )
    }

    /// Sets the delay that the provider asks for, if any.
    #[must_use]
    pub fn with_retry_after(mut self, wait: impl Into<Option<Duration>>) -> Self {
        self.retry_after = wait.into();
        self
    }

    /// Returns `true` if the same request may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}
