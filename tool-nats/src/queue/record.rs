//! What is on record of a job.

use serde::{Deserialize, Serialize};
use tool_runtime::ToolResult;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) tool: String,
    #[serde(flatten)]
    pub(super) state: State,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum State {
    Waiting,
    Running {
        worker: String,
        attempt: u32,
        /// Whether somebody wants it stopped.
        stop: bool,
    },
    Done {
        /// Nothing, if it stands among the long results.
        result: Option<Box<ToolResult>>,
    },
}
