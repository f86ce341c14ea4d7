//! Subjects of a cluster of tools.

use std::fmt;
use std::sync::Arc;

use crate::NatsError;

/// A namespace of NATS subjects for the tools of one cluster. All subjects start with its name, so that spaces are
/// independent of each other. Defaults to `tools`.
///
/// | subject | subscribers | messages |
/// |---|---|---|
/// | `tools.call.NAME.FINGERPRINT` | the workers that have the tool with this definition, as a queue group | calls |
/// | `tools.manifest.HASH` | the workers with these tools, as a queue group | requests for parts of the manifest |
/// | `tools.worker.ID` | one worker | calls to cancel |
/// | `tools.news.here`, `tools.news.gone` | callers | workers that joined, changed or leave |
/// | `tools.job.NAME` | the stream of the work queue | queued calls |
/// | `tools.done.NAME.ID` | callers that wait for a job | the end of the job |
/// | `$SRV.PING`, `$SRV.INFO`, `$SRV.STATS`, also with the suffixes `.tools` and `.tools.ID` | workers | the NATS service protocol |
///
/// A tool's name is part of the subject unchanged, so that permissions can be granted for `tools.call.metrics.>`. It is
/// followed by a fingerprint of the definition, so that a call never reaches a worker with another definition of the
/// tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    name: Arc<str>,
}

impl Space {
    /// Creates a space.
    ///
    /// # Errors
    /// If the name contains anything but letters, digits, `_` and `-`.
    pub fn new(name: impl AsRef<str>) -> Result<Self, NatsError> {
        let name = name.as_ref();
        let is_token = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if is_token { Ok(Self { name: name.into() }) } else { Err(NatsError::Space(name.to_owned())) }
    }

    /// Returns the name, which is also the name of the NATS service.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the queue group in which workers share calls.
    pub(crate) fn group(&self) -> String {
        self.name.to_string()
    }

    pub(crate) fn call(&self, tool: &str, fingerprint: &str) -> String {
        format!("{}.call.{tool}.{fingerprint}", self.name)
    }

    pub(crate) fn manifest(&self, hash: &str) -> String {
        format!("{}.manifest.{hash}", self.name)
    }

    pub(crate) fn worker(&self, id: &str) -> String {
        format!("{}.worker.{id}", self.name)
    }

    pub(crate) fn here(&self) -> String {
        format!("{}.news.here", self.name)
    }

    pub(crate) fn gone(&self) -> String {
        format!("{}.news.gone", self.name)
    }

    pub(crate) fn job(&self, tool: &str) -> String {
        format!("{}.job.{tool}", self.name)
    }

    /// Returns the subject for the end of a job.
    pub(crate) fn done(&self, job: &str) -> String {
        format!("{}.done.{job}", self.name)
    }

    pub(crate) fn jobs(&self) -> String {
        format!("{}.job.>", self.name)
    }

    /// Returns the name of the stream of jobs.
    pub(crate) fn job_stream(&self) -> String {
        format!("{}-jobs", self.name)
    }

    /// Returns the name of the bucket of job records.
    pub(crate) fn job_bucket(&self) -> String {
        format!("{}-job-states", self.name)
    }

    /// Returns the subjects of a service verb: for all services, for this name, and for this instance.
    pub(crate) fn verb(&self, verb: &str, id: &str) -> [String; 3] {
        [format!("$SRV.{verb}"), format!("$SRV.{verb}.{}", self.name), format!("$SRV.{verb}.{}.{id}", self.name)]
    }

    /// Returns the `handler` of a tool's definition.
    pub(crate) fn handler(&self, tool: &str) -> String {
        format!("nats://{}/{tool}", self.name)
    }
}

impl Default for Space {
    fn default() -> Self {
        Self { name: "tools".into() }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_name_is_one_subject_token() {
        assert_eq!(Space::new("team-a").unwrap().call("metrics.newest", "0af3"), "team-a.call.metrics.newest.0af3");
        for wrong in ["", "a.b", "a b", "a>", "*"] {
            assert!(Space::new(wrong).is_err(), "{wrong:?}");
        }
    }
}
