//! Outcome of a run.

use std::fmt;

use serde::{Serialize, Serializer};
use tool_runtime::ToolResult;
use tool_runtime::confirm::TokenError;

use crate::{CallResult, ConversationStoreError, ModelError, ReachedLimit, StopReason, Usage};

/// The outcome of a run, as returned by [`say`](crate::Conversation::say). The history is valid for a provider in every
/// case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunOutcome {
    /// The reason why the run ended.
    pub ending: RunEnding,
    /// The text of the last response: the answer, if [`RunEnding::Answered`].
    pub text: String,
    /// The reason why that text ended.
    pub stop: StopReason,
    /// The number of requests to the model.
    pub turns: u32,
    /// The number of calls.
    pub calls: u32,
    /// The calls since the user's last message that returned an error, in the order of the history. A model can recover
    /// from a failed call, so a run with failed calls may still be [`RunEnding::Answered`]. Excludes pending calls and
    /// calls of sub-agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_calls: Vec<CallResult>,
    /// The tokens used.
    pub usage: Usage,
}

impl RunOutcome {
    /// Creates the outcome of a run that has not done anything.
    pub(crate) fn new(ending: RunEnding) -> Self {
        Self {
            ending,
            text: String::new(),
            stop: StopReason::Done,
            turns: 0,
            calls: 0,
            failed_calls: Vec::new(),
            usage: Usage::default(),
        }
    }

    /// Returns the model's final answer, if there is one.
    #[must_use]
    pub fn answer(&self) -> Option<&str> {
        (self.ending == RunEnding::Answered).then_some(self.text.as_str())
    }
}

/// The reason why a run ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "why", content = "because", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEnding {
    /// The model responded with text, which is empty if it had nothing to add.
    Answered,
    /// This many calls are pending approval; see [`Conversation::pending_calls`](crate::Conversation::pending_calls).
    Waiting(usize),
    /// The run reached a limit.
    Limit(ReachedLimit),
    /// The run was cancelled.
    Cancelled,
    /// The user aborted the turn when asked about a call.
    Aborted,
    /// The model failed to respond, or its response was cut off.
    Failed(#[serde(serialize_with = "in_words")] ModelError),
    /// The conversation could not be loaded or saved. Calls that could not be saved did not run.
    NotKept(#[serde(serialize_with = "in_words")] ConversationStoreError),
    /// The handler of the approved call was not started, and the call is still pending: its edited arguments are
    /// invalid, a provider failed, its tool is gone, or the dispatcher is overloaded.
    NotBegun(ToolResult),
    /// The token belongs to no pending call of this conversation.
    NotWaiting(#[serde(serialize_with = "in_words")] TokenError),
}

impl fmt::Display for RunEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("the model has answered"),
            Self::Waiting(1) => f.write_str("1 call is waiting for approval"),
            Self::Waiting(calls) => write!(f, "{calls} calls are waiting for approval"),
            Self::Limit(reached) => reached.fmt(f),
            Self::Cancelled => f.write_str("the run was cancelled"),
            Self::Aborted => f.write_str("the user aborted the turn"),
            Self::Failed(error) => error.fmt(f),
            Self::NotKept(error) => error.fmt(f),
            Self::NotBegun(result) => f.write_str(&result.output),
            Self::NotWaiting(error) => error.fmt(f),
        }
    }
}

fn in_words<E: fmt::Display, S: Serializer>(error: &E, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}
