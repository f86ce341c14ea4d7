//! How a run has ended.

use std::fmt;

use serde::{Serialize, Serializer};
use tool_runtime::ToolResult;
use tool_runtime::confirm::TokenError;

use crate::{ModelError, Reached, Stop, StoreError, Usage};

/// How a run has ended; what [`say`](crate::Conversation::say) answers. Whatever happened, the history is one that a
/// provider takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// Why it has ended.
    pub ending: Ending,
    /// What the model has said in its last turn: the answer, if [`Ending::Answered`].
    pub text: String,
    /// Whether that is all it wanted to say.
    pub stop: Stop,
    /// How often the model was asked.
    pub turns: u32,
    /// How many calls it has made.
    pub calls: u32,
    /// The tokens that it took.
    pub usage: Usage,
}

impl Outcome {
    /// The end of a run that has not come to anything.
    pub(crate) fn of(ending: Ending) -> Self {
        Self { ending, text: String::new(), stop: Stop::Done, turns: 0, calls: 0, usage: Usage::default() }
    }

    /// The model's answer, if it has come to one.
    #[must_use]
    pub fn answer(&self) -> Option<&str> {
        (self.ending == Ending::Answered).then_some(self.text.as_str())
    }
}

/// Why a run has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "why", content = "because", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// The model has answered in text. It may have had nothing to add to what it did, and then there is none.
    Answered,
    /// So many calls wait for somebody's consent; see [`Conversation::waiting`](crate::Conversation::waiting).
    Waiting(usize),
    /// A limit is reached.
    Limit(Reached),
    /// It was cancelled.
    Cancelled,
    /// Whoever was asked about a call wants everything to stop.
    Aborted,
    /// The model did not answer, or not to the end.
    Failed(#[serde(serialize_with = "in_words")] ModelError),
    /// The conversation could not be read or kept. What would have been lost did not run.
    NotKept(#[serde(serialize_with = "in_words")] StoreError),
    /// The handler of the approved call was not started, and the call waits on: its arguments were edited and are wrong,
    /// a provider failed, its tool is gone, or there is too much to do.
    NotBegun(ToolResult),
    /// Nothing in this conversation waits for this token.
    NotWaiting(#[serde(serialize_with = "in_words")] TokenError),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("the model has answered"),
            Self::Waiting(1) => f.write_str("a call waits for somebody's consent"),
            Self::Waiting(calls) => write!(f, "{calls} calls wait for somebody's consent"),
            Self::Limit(reached) => reached.fmt(f),
            Self::Cancelled => f.write_str("it was cancelled"),
            Self::Aborted => f.write_str("somebody has stopped everything"),
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
