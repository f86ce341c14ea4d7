//! Ids, status and records of jobs.

use std::fmt;

use serde::{Deserialize, Serialize};
use tool_runtime::ToolResult;

use crate::NatsError;

/// The maximum length of an id, for a tool with the longest name.
const LONGEST: usize = 128 + 1 + 32;

/// The id of a job: its tool, a `.` and a unique part. The unique part is derived from the call's conversation, id and
/// arguments if it has them, so that a restarted caller that repeats a call gets the same job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobId(String);

impl JobId {
    pub(super) fn new(tool: &str, unique: &str) -> Self {
        Self(format!("{tool}.{unique}"))
    }

    /// Parses an id that was obtained from [`as_str`](Self::as_str) or from a result's metadata under `job`.
    ///
    /// # Errors
    /// If the id is invalid.
    pub fn parse(id: &str) -> Result<Self, NatsError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_id = id.len() <= LONGEST
            && id.chars().all(is_plain)
            && id.contains('.')
            && id.split('.').all(|token| !token.is_empty());
        if is_id { Ok(Self(id.to_owned())) } else { Err(NatsError::Job(id.chars().take(LONGEST).collect())) }
    }

    /// Returns the id as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.0.rsplit_once('.').map_or(&*self.0, |(tool, _)| tool)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The status of a job.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum JobStatus {
    /// No worker has started the job.
    Waiting,
    /// A worker is running the job.
    Running {
        /// The worker's id.
        worker: String,
        /// The number of starts; more than one only if the job may be repeated.
        attempt: u32,
    },
    /// The job has finished.
    Done(ToolResult),
}

/// The recorded state of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum JobState {
    Waiting,
    Running {
        /// The stream sequence of the message by which it was claimed. Any other message is a duplicate.
        message: u64,
        worker: String,
        attempt: u32,
        /// Set if the job is to be cancelled.
        stop: bool,
    },
    Done {
        result: StoredResult,
    },
}

impl JobState {
    pub(super) fn done(result: ToolResult) -> Self {
        Self::Done { result: StoredResult::Inline(Box::new(result)) }
    }
}

/// The location of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredResult {
    #[serde(rename = "here")]
    Inline(Box<ToolResult>),
    /// In this many separate parts, because it is too long for one message.
    Parts(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_valid_subject_without_wildcards() {
        let id = JobId::new("math.add-1", "0af3");
        assert_eq!((JobId::parse(id.as_str()).unwrap(), id.tool()), (id.clone(), "math.add-1"));
        let long = format!("a.{}", "x".repeat(LONGEST));
        for wrong in ["", "alone", ".x", "x.", "a..b", "a.>", "*.b", "a b.c", "a.b\r\n", &long] {
            assert!(JobId::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
