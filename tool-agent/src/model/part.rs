//! Pieces of an answer.

use std::ops::{Add, AddAssign};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ModelError;
use crate::ModelCall;

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// More text.
    Text(String),
    /// More of what the model thinks before it answers.
    Thinking(String),
    /// A call, whole.
    Call(ModelCall),
    /// Tokens that this request has used so far. Later counts replace earlier ones, and [`End::usage`] replaces all of
    /// them. They count if the answer fails or is cancelled before its end.
    Usage(Usage),
    /// The request failed before the model had answered, and is sent again after a delay. Thoughts that have come until
    /// then belong to the failed request and are discarded; see [`Retrying`](crate::Retrying).
    Retrying {
        /// Why it did not.
        why: ModelError,
        /// How long it will be.
        after: Duration,
    },
    /// The answer is complete. Nothing comes after it.
    End(End),
}

/// How an answer has ended.
///
/// ```
/// use tool_agent::{End, Part, Stop, Usage};
///
/// let end = Part::End(End::new(Stop::Length).usage(Usage::new(1_200, 300).cached(1_000)));
/// # let _ = end;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct End {
    /// Why.
    pub stop: Stop,
    /// What it took.
    pub usage: Usage,
    /// What the provider wants to see again with the next request; see [`Assistant::opaque`](crate::Assistant::opaque).
    pub opaque: Option<Value>,
}

impl End {
    /// An end for this reason.
    #[must_use]
    pub fn new(stop: Stop) -> Self {
        Self { stop, ..Self::default() }
    }

    /// What it took.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// What the provider wants to see again with the next request.
    #[must_use]
    pub fn opaque(mut self, opaque: impl Into<Option<Value>>) -> Self {
        self.opaque = opaque.into();
        self
    }
}

/// Why an answer has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The model has said what it wanted to say, or calls tools.
    #[default]
    Done,
    /// It was as long as it may be. What is there may break off in the middle, calls too.
    Length,
    /// The provider keeps the rest back, or the model will not answer.
    Filtered,
}

/// How many tokens answers took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens that were read, those from a cache included.
    pub input: u64,
    /// Tokens that were written, thoughts included.
    pub output: u64,
    /// Of those that were read, the ones that came from the provider's cache.
    pub cached: u64,
}

impl Usage {
    /// So many tokens read and written.
    #[must_use]
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output, cached: 0 }
    }

    /// So many of those that were read came from the provider's cache.
    #[must_use]
    pub fn cached(mut self, tokens: u64) -> Self {
        self.cached = tokens;
        self
    }

    /// All tokens, read and written.
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
