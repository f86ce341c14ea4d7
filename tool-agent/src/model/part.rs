//! Pieces of an answer.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// The answer is complete. Nothing comes after it.
    End(End),
}

/// How an answer has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// Why.
    pub stop: Stop,
    /// What it took.
    pub usage: Usage,
    /// What the provider wants to see again with the next request; see [`Assistant::opaque`](crate::Assistant::opaque).
    pub opaque: Option<Value>,
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
