//! How a queue is made.

use std::time::Duration;

use crate::Space;

/// How a queue is made. All who use one have to agree on it.
#[derive(Clone, Debug)]
pub struct QueueOptions {
    pub(super) space: Space,
    pub(super) silence: Duration,
    pub(super) keep: Duration,
    pub(super) replicas: usize,
}

impl Default for QueueOptions {
    /// The space `tools`; a worker is taken to be dead after half a minute, results are kept for a week, on one server.
    fn default() -> Self {
        let (silence, keep) = (Duration::from_secs(30), Duration::from_secs(7 * 24 * 60 * 60));
        Self { space: Space::default(), silence, keep, replicas: 1 }
    }
}

impl QueueOptions {
    /// In another space.
    #[must_use]
    pub fn space(mut self, space: Space) -> Self {
        self.space = space;
        self
    }

    /// How long a worker that has a job may be silent until another gets it, at least a second. It says that it is
    /// there three times as often.
    #[must_use]
    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence.max(Duration::from_secs(1));
        self
    }

    /// How long jobs and their results are kept.
    #[must_use]
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = keep;
        self
    }

    /// On how many servers of a cluster everything is kept.
    #[must_use]
    pub fn replicas(mut self, replicas: usize) -> Self {
        self.replicas = replicas;
        self
    }
}
