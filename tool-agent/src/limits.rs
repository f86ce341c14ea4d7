//! How far a run may go.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Assistant, Message, Usage};

/// How far a run may go. Each [`say`](crate::Conversation::say) begins anew. What [sub-agents](crate::SubAgents) do counts
/// for the run that they are spawned in.
///
/// ```
/// use std::time::Duration;
///
/// use tool_agent::Limits;
///
/// let limits = Limits::default().turns(10).calls(40).tokens(100_000).time(Duration::from_secs(120));
/// # let _ = limits;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How often the model is asked. 50 unless set.
    pub turns: u32,
    /// How many calls it makes. 250 unless set.
    pub calls: u32,
    /// How many tokens it reads and writes, in all. Without a limit unless set. The answer that goes beyond it still
    /// counts; what it calls does not run. Where a provider does not say how many there were, they are estimated.
    pub tokens: Option<u64>,
    /// How long it takes, with everything that is waited for, people included. 30 minutes unless set.
    pub time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { turns: 50, calls: 250, tokens: None, time: Some(Duration::from_secs(30 * 60)) }
    }
}

impl Limits {
    /// How often the model is asked.
    #[must_use]
    pub fn turns(mut self, turns: u32) -> Self {
        self.turns = turns;
        self
    }

    /// How many calls it makes.
    #[must_use]
    pub fn calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// How many tokens it reads and writes, in all.
    #[must_use]
    pub fn tokens(mut self, tokens: impl Into<Option<u64>>) -> Self {
        self.tokens = tokens.into();
        self
    }

    /// How long it takes.
    #[must_use]
    pub fn time(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.time = time.into();
        self
    }
}

/// A limit that a run has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reached {
    /// [`Limits::turns`]
    Turns,
    /// [`Limits::calls`]
    Calls,
    /// [`Limits::tokens`]
    Tokens,
    /// [`Limits::time`]
    Time,
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turns => "the model was asked as often as it may be",
            Self::Calls => "the model has made as many calls as it may",
            Self::Tokens => "the model has used as many tokens as it may",
            Self::Time => "the time is over",
        })
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) turns: u32,
    pub(crate) calls: u32,
    pub(crate) usage: Usage,
}

impl Spent {
    /// Why the model may not be asked again.
    pub(crate) fn before_turn(&self, limits: &Limits) -> Option<Reached> {
        if self.turns >= limits.turns {
            return Some(Reached::Turns);
        }
        self.tokens(limits)
    }

    /// Whether as many tokens are used as may be.
    pub(crate) fn tokens(&self, limits: &Limits) -> Option<Reached> {
        limits.tokens.filter(|tokens| self.usage.total() >= *tokens).map(|_| Reached::Tokens)
    }
}

/// About how many tokens an answer took, where nobody says: four bytes are about one.
pub(crate) fn estimated(history: &[Message], answer: &Assistant) -> Usage {
    let written = |answer: &Assistant| {
        let calls = answer.calls.iter().map(|call| call.name.len() + call.arguments.len());
        answer.text.len() + answer.thinking.len() + calls.sum::<usize>()
    };
    let read = history.iter().map(|message| match message {
        Message::User { text } => text.len(),
        Message::Assistant(earlier) => written(earlier) - earlier.thinking.len(),
        Message::Tools { results } => results.iter().map(|result| result.result.output.len()).sum(),
    });
    let tokens = |bytes: usize| u64::try_from(bytes / 4 + 1).unwrap_or(u64::MAX);
    Usage::new(tokens(read.sum()), tokens(written(answer)))
}
