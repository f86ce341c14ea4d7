//! Parts of a streamed response.

use std::ops::{Add, AddAssign};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ModelError;
use crate::ModelCall;

/// A part of a streamed response.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResponsePart {
    /// More text.
    Text(String),
    /// More reasoning, before the text.
    Thinking(String),
    /// A complete call.
    Call(ModelCall),
    /// The tokens used by this request so far. Later counts replace earlier ones, and [`ResponseEnd::usage`] replaces
    /// all of them. They are charged if the response fails or is cancelled before its end.
    Usage(Usage),
    /// The request failed before the model responded, and is retried after a delay. Reasoning received so far belongs
    /// to the failed request and is discarded; see [`RetryingModel`](crate::RetryingModel).
    Retrying {
        /// The error.
        why: ModelError,
        /// The delay.
        after: Duration,
    },
    /// The response is complete. No part follows.
    End(ResponseEnd),
}

/// The end of a response.
///
/// ```
/// use tool_agent::{ResponseEnd, ResponsePart, StopReason, Usage};
///
/// let end = ResponsePart::End(ResponseEnd::new(StopReason::Length).usage(Usage::new(1_200, 300).cached(1_000)));
/// # let _ = end;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResponseEnd {
    /// The reason why it ended.
    pub stop: StopReason,
    /// The tokens used.
    pub usage: Usage,
    /// Data that the provider expects in the next request; see
    /// [`AssistantMessage::opaque`](crate::AssistantMessage::opaque).
    pub opaque: Option<Value>,
}

impl ResponseEnd {
    /// Creates an end for this reason.
    #[must_use]
    pub fn new(stop: StopReason) -> Self {
        Self { stop, ..Self::default() }
    }

    /// Sets the tokens used.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the data that the provider expects in the next request.
    #[must_use]
    pub fn opaque(mut self, opaque: impl Into<Option<Value>>) -> Self {
        self.opaque = opaque.into();
        self
    }
}

/// The reason why a response ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The response is complete, or the model calls tools.
    #[default]
    Done,
    /// The length limit was reached. The text or the last call may be truncated.
    Length,
    /// The provider withheld the rest, or the model refused.
    Filtered,
}

/// The number of tokens used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens, including those from a cache.
    pub input: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
    /// The input tokens that came from the provider's cache.
    pub cached: u64,
}

impl Usage {
    /// Creates a usage of this many input and output tokens.
    #[must_use]
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output, cached: 0 }
    }

    /// Sets how many input tokens came from the provider's cache.
    #[must_use]
    pub fn cached(mut self, tokens: u64) -> Self {
        self.cached = tokens;
        self
    }

    /// Returns the sum of input and output tokens.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
