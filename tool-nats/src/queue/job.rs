//! What a job is known by, and what is known of it.

use std::fmt;

use tool_runtime::ToolResult;

use crate::Error;

/// The longest id: that of a tool with the longest name.
const LONGEST: usize = 128 + 1 + 32;

/// What a job is known by: its tool, and behind a `.` what tells it from others. That comes from the call's conversation,
/// id and arguments where it has them, so that a caller that was restarted and makes the same call again has the same job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobId(String);

impl JobId {
    pub(super) fn new(tool: &str, unique: &str) -> Self {
        Self(format!("{tool}.{unique}"))
    }

    /// The id as it was once given by [`as_str`](Self::as_str), or in a result's metadata under `job`.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(id: &str) -> Result<Self, Error> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_id = id.len() <= LONGEST
            && id.chars().all(is_plain)
            && id.contains('.')
            && id.split('.').all(|token| !token.is_empty());
        if is_id { Ok(Self(id.to_owned())) } else { Err(Error::Job(id.chars().take(LONGEST).collect())) }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its tool.
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

/// What is known of a job.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Status {
    /// No worker has begun it.
    Waiting,
    /// A worker has it.
    Running {
        /// The worker's id.
        worker: String,
        /// How often it was begun; more than once only if it may be.
        attempt: u32,
    },
    /// It is over.
    Done(ToolResult),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_part_of_a_subject_and_no_pattern() {
        let id = JobId::new("math.add-1", "0af3");
        assert_eq!((JobId::parse(id.as_str()).unwrap(), id.tool()), (id.clone(), "math.add-1"));
        let long = format!("a.{}", "x".repeat(LONGEST));
        for wrong in ["", "alone", ".x", "x.", "a..b", "a.>", "*.b", "a b.c", "a.b\r\n", &long] {
            assert!(JobId::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
