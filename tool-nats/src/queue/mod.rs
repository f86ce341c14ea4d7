//! A persistent work queue in JetStream.
//!
//! A job is a message in a stream, which stays there until a worker acknowledges it, and a record of its state in a
//! bucket. A worker claims a job by updating the record from a known revision, so that only one worker succeeds. If the
//! worker dies, the message is delivered again, and the next worker sees in the record that the job was started. It
//! consults its journal: a completed call gets the recorded result, and a running one is left alone. Otherwise only a
//! job that may be repeated runs again; any other job gets an unknown outcome. A job that was submitted twice may have
//! two messages; the record contains the one by which it was claimed, and the other is discarded.

mod consumer;
mod job;
mod job_runner;
mod store;
mod submit;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{sleep, timeout};
use tool_runtime::{ErrorKind, ToolError, ToolResult};

pub(crate) use self::consumer::{QueueConsumer, ToolFilter};
use self::job::JobState;
pub use self::job::{JobId, JobStatus};
use self::store::QueueStore;
pub(crate) use self::submit::{QueuedCall, Submission};
use crate::{NatsConnection, NatsError, Space};

/// The interval at which the record of a job is polled, in case its end was missed.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Options of a queue. All its users must agree on them.
#[derive(Clone, Debug)]
pub struct QueueOptions {
    space: Space,
    heartbeat_timeout: Duration,
    retention: Duration,
    replicas: usize,
}

impl Default for QueueOptions {
    /// The space `tools`, a silence of 30 seconds, results kept for a week, and one replica.
    fn default() -> Self {
        let (heartbeat_timeout, retention) = (Duration::from_secs(30), Duration::from_secs(7 * 24 * 60 * 60));
        Self { space: Space::default(), heartbeat_timeout, retention, replicas: 1 }
    }
}

impl QueueOptions {
    /// Sets the space.
    #[must_use]
    pub fn space(mut self, space: Space) -> Self {
        self.space = space;
        self
    }

    /// Sets how long a worker with a job may be silent before another gets the job, at least one second. Heartbeats are
    /// sent at a third of this interval.
    #[must_use]
    pub fn heartbeat_timeout(mut self, heartbeat_timeout: Duration) -> Self {
        self.heartbeat_timeout = heartbeat_timeout.max(Duration::from_secs(1));
        self
    }

    /// Sets how long jobs and their results are kept.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Sets the number of replicas in a cluster.
    #[must_use]
    pub fn replicas(mut self, replicas: usize) -> Self {
        self.replicas = replicas;
        self
    }
}

/// A work queue. Cheap to clone.
///
/// Jobs are submitted through a dispatcher, with [`DeliveryMode::Submitted`](crate::DeliveryMode::Submitted) or
/// [`Queued`](crate::DeliveryMode::Queued), so that every job was validated, approved and recorded. This type looks up,
/// awaits and cancels jobs, from any process and at any time.
#[derive(Clone)]
pub struct WorkQueue {
    store: Arc<QueueStore>,
}

impl WorkQueue {
    /// Opens the queue, or creates it.
    ///
    /// # Errors
    /// If the server has no JetStream, or denies this user access.
    pub async fn open(connection: impl Into<NatsConnection>, options: QueueOptions) -> Result<Self, NatsError> {
        Ok(Self { store: Arc::new(QueueStore::open(connection.into(), options).await?) })
    }

    /// Returns the status of a job, or `None` if it is unknown or has expired.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn status(&self, job: &JobId) -> Result<Option<JobStatus>, NatsError> {
        let Some((state, _)) = self.store.read(job).await? else { return Ok(None) };
        Ok(Some(match state {
            JobState::Waiting => JobStatus::Waiting,
            JobState::Running { worker, attempt, .. } => JobStatus::Running { worker, attempt },
            JobState::Done { result } => JobStatus::Done(self.store.load_result(job, result).await?),
        }))
    }

    /// Waits for the result of a job, across reconnects. Dropping the future does not affect the job.
    ///
    /// # Errors
    /// If there is no such job, or the server denies this user access.
    pub async fn result(&self, job: &JobId) -> Result<ToolResult, NatsError> {
        // Subscribed before the first look at the record, so that the end cannot be missed.
        let mut ends = self.store.subscribe_end(job).await.ok();
        loop {
            match self.status(job).await {
                Ok(Some(JobStatus::Done(result))) => return Ok(result),
                Ok(Some(_)) => {}
                Ok(None) => return Err(unknown(job)),
                Err(error @ NatsError::Forbidden { .. }) => return Err(error),
                Err(error) => tracing::debug!(%job, %error, "cannot look up a job, retrying"),
            }
            match &mut ends {
                Some(subscription) => {
                    if let Ok(None) = timeout(POLL_INTERVAL, subscription.next()).await {
                        ends = None;
                    }
                }
                None => sleep(POLL_INTERVAL).await,
            }
        }
    }

    /// Cancels a job and returns its status. A job that has not started is finished at once. A running one is asked to
    /// stop, and its result says how it ended.
    ///
    /// # Errors
    /// If the server cannot be reached, or there is no such job.
    pub async fn cancel(&self, job: &JobId) -> Result<JobStatus, NatsError> {
        loop {
            let Some((state, revision)) = self.store.read(job).await? else { return Err(unknown(job)) };
            match state {
                JobState::Done { result } => return Ok(JobStatus::Done(self.store.load_result(job, result).await?)),
                JobState::Running { message, worker, attempt, stop } => {
                    let stopped = JobState::Running { message, worker: worker.clone(), attempt, stop: true };
                    if stop || self.store.write(job, &stopped, revision).await? {
                        return Ok(JobStatus::Running { worker, attempt });
                    }
                }
                JobState::Waiting => {
                    let message = format!("`{}` was cancelled before a worker started it.", job.tool());
                    let result = ToolResult::failure(ToolError::new(ErrorKind::Cancelled, message));
                    if self.store.write(job, &JobState::done(result.clone()), revision).await? {
                        self.store.announce_end(job).await;
                        return Ok(JobStatus::Done(result));
                    }
                }
            }
        }
    }
}

impl fmt::Debug for WorkQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue").field("space", self.store.space()).finish_non_exhaustive()
    }
}

fn unknown(job: &JobId) -> NatsError {
    NatsError::Job(job.as_str().to_owned())
}
