//! Limits of a run.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{AssistantMessage, Message, Usage};

/// Limits of a run. Each [`say`](crate::Conversation::say) starts from zero. The turns, calls and tokens of
/// [sub-agents](crate::SubAgents) count towards the run that spawned them.
///
/// ```
/// use std::time::Duration;
///
/// use tool_agent::RunLimits;
///
/// let limits = RunLimits::default().turns(10).calls(40).tokens(100_000).time(Duration::from_secs(120));
/// # let _ = limits;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunLimits {
    /// The maximum number of requests to the model. Defaults to 50.
    pub turns: u32,
    /// The maximum number of calls. Defaults to 250.
    pub calls: u32,
    /// The maximum number of input and output tokens. Unlimited by default. A response that exceeds the limit still
    /// counts, but its calls do not run. If the provider reports no usage, tokens are estimated.
    pub tokens: Option<u64>,
    /// The maximum duration, including the time spent waiting for people. Defaults to 30 minutes.
    pub time: Option<Duration>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { turns: 50, calls: 250, tokens: None, time: Some(Duration::from_secs(30 * 60)) }
    }
}

impl RunLimits {
    /// Sets the maximum number of requests to the model.
    #[must_use]
    pub fn turns(mut self, turns: u32) -> Self {
        self.turns = turns;
        self
    }

    /// Sets the maximum number of calls.
    #[must_use]
    pub fn calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Sets the maximum number of input and output tokens.
    #[must_use]
    pub fn tokens(mut self, tokens: impl Into<Option<u64>>) -> Self {
        self.tokens = tokens.into();
        self
    }

    /// Sets the maximum duration.
    #[must_use]
    pub fn time(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.time = time.into();
        self
    }
}

/// A limit that a run has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReachedLimit {
    /// [`RunLimits::turns`]
    Turns,
    /// [`RunLimits::calls`]
    Calls,
    /// [`RunLimits::tokens`]
    Tokens,
    /// [`RunLimits::time`]
    Time,
}

impl fmt::Display for ReachedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turns => "the turn limit is reached",
            Self::Calls => "the call limit is reached",
            Self::Tokens => "the token limit is reached",
            Self::Time => "the time limit is reached",
        })
    }
}

/// The turns, calls and tokens that a run has used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunUsage {
    pub(crate) turns: u32,
    pub(crate) calls: u32,
    pub(crate) usage: Usage,
}

impl RunUsage {
    /// Returns the limit that forbids another turn.
    pub(crate) fn before_turn(&self, limits: &RunLimits) -> Option<ReachedLimit> {
        if self.turns >= limits.turns {
            return Some(ReachedLimit::Turns);
        }
        self.tokens(limits)
    }

    /// Returns the token limit if it is reached.
    pub(crate) fn tokens(&self, limits: &RunLimits) -> Option<ReachedLimit> {
        limits.tokens.filter(|tokens| self.usage.total() >= *tokens).map(|_| ReachedLimit::Tokens)
    }
}

/// Estimates the tokens of a response for providers that report none, at four bytes per token.
pub(crate) fn estimated(history: &[Message], response: &AssistantMessage) -> Usage {
    let written = |response: &AssistantMessage| {
        let calls = response.calls.iter().map(|call| call.name.len() + call.arguments.len());
        response.text.len() + response.thinking.len() + calls.sum::<usize>()
    };
    let read = history.iter().map(|message| match message {
        Message::User { text } => text.len(),
        Message::Assistant(earlier) => written(earlier) - earlier.thinking.len(),
        Message::Tools { results } => results.iter().map(|result| result.result.output.len()).sum(),
    });
    let tokens = |bytes: usize| u64::try_from(bytes / 4 + 1).unwrap_or(u64::MAX);
    Usage::new(tokens(read.sum()), tokens(written(response)))
}
