//! What is on record of a job.

use serde::{Deserialize, Serialize};
use tool_runtime::ToolResult;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum State {
    Waiting,
    Running {
        /// The message by which it was claimed: its number in the stream. Another one is a duplicate.
        message: u64,
        worker: String,
        attempt: u32,
        /// Whether somebody wants it stopped.
        stop: bool,
    },
    Done {
        result: Kept,
    },
}

impl State {
    pub(super) fn done(result: ToolResult) -> Self {
        Self::Done { result: Kept::Here(Box::new(result)) }
    }
}

/// Where a result stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kept {
    Here(Box<ToolResult>),
    /// Beside the record, in so many parts: it is too long for a message.
    Parts(usize),
}
