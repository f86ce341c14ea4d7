//! The subjects of one cluster of tools.

use std::fmt;
use std::sync::Arc;

use crate::Error;

/// The part of NATS's subjects in which the tools of a cluster live: everything is beneath one token, and two spaces
/// know nothing of each other. `tools` unless set.
///
/// | subject | who listens | what comes |
/// |---|---|---|
/// | `tools.call.NAME.FINGERPRINT` | the workers that have the tool in this form, as a queue group | calls |
/// | `tools.manifest.HASH` | the workers with these tools, as a queue group | requests for parts of the manifest |
/// | `tools.worker.ID` | one worker | calls to be stopped |
/// | `tools.news.here`, `tools.news.gone` | callers | a worker that came, changed or leaves |
/// | `tools.job.NAME` | the stream of the work queue | calls that must not be lost |
/// | `tools.done.NAME.ID` | who waits for a job | that it is over |
/// | `$SRV.PING`, `$SRV.INFO`, `$SRV.STATS` and `.tools`, `.tools.ID` behind them | workers | as NATS's services have it |
///
/// A tool's name is part of the subject as it is, so that permissions can be given for `tools.call.metrics.>`. Behind it
/// stands a fingerprint of the definition: a call never reaches a worker that has another tool of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    name: Arc<str>,
}

impl Space {
    /// The space of a name.
    ///
    /// # Errors
    /// When the name has anything but letters, digits, `_` and `-`.
    pub fn new(name: impl AsRef<str>) -> Result<Self, Error> {
        let name = name.as_ref();
        let is_token = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if is_token { Ok(Self { name: name.into() }) } else { Err(Error::Space(name.to_owned())) }
    }

    /// The name, which is also the name of the service.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The queue group in which workers share calls.
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

    /// Where it is told that a job is over.
    pub(crate) fn done(&self, job: &str) -> String {
        format!("{}.done.{job}", self.name)
    }

    pub(crate) fn jobs(&self) -> String {
        format!("{}.job.>", self.name)
    }

    /// The stream that holds the jobs.
    pub(crate) fn job_stream(&self) -> String {
        format!("{}-jobs", self.name)
    }

    /// The bucket that holds what became of them.
    pub(crate) fn job_bucket(&self) -> String {
        format!("{}-job-states", self.name)
    }

    /// Where a service of this name answers a verb: all, those of the name, this one.
    pub(crate) fn verb(&self, verb: &str, id: &str) -> [String; 3] {
        [format!("$SRV.{verb}"), format!("$SRV.{verb}.{}", self.name), format!("$SRV.{verb}.{}.{id}", self.name)]
    }

    /// Where a tool of this space is, in the words of its definition.
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
    fn a_space_is_one_token() {
        assert_eq!(Space::new("team-a").unwrap().call("metrics.newest", "0af3"), "team-a.call.metrics.newest.0af3");
        for wrong in ["", "a.b", "a b", "a>", "*"] {
            assert!(Space::new(wrong).is_err(), "{wrong:?}");
        }
    }
}
