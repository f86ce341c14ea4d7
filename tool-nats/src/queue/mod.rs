//! Calls that must not be lost: a work queue in JetStream.
//!
//! A job is a message in a stream, which stays there until a worker has acknowledged it, and a record in a bucket, which
//! says what became of it. A worker claims a job by changing its record from one known revision to the next, so that of
//! several one has it. If it dies, the message is delivered again; whoever gets it sees in the record that the job was
//! begun. It looks into its journal: what completed is answered from there, and what still runs is left to whoever runs
//! it. Otherwise only a job that may be repeated runs again; of another the outcome is unknown, and the record says that.
//! A job that was submitted twice may have two messages; the record has the one by which it was claimed, and the other is
//! taken away.

mod job;
mod options;
mod record;
mod store;
mod submit;
mod take;
mod work;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{sleep, timeout};
use tool_runtime::{ErrorKind, ToolError, ToolResult};

pub use self::job::{JobId, Status};
pub use self::options::QueueOptions;
use self::record::State;
use self::store::Store;
pub(crate) use self::submit::{Job, Submitted};
pub(crate) use self::take::{Choice, Taking};
use crate::{Connection, Error};

/// How often a job is asked for whose end was not heard.
const ASK: Duration = Duration::from_secs(1);

/// A work queue. Cheap to clone.
///
/// Jobs are submitted through a dispatcher, with [`Delivery::Submitted`](crate::Delivery::Submitted) or
/// [`Queued`](crate::Delivery::Queued), so that nothing gets into the queue that was not checked, asked about and recorded.
/// This asks for them, waits for them and cancels them, from any process and at any time.
#[derive(Clone)]
pub struct Queue {
    store: Arc<Store>,
}

impl Queue {
    /// Opens the queue, and makes it where it does not exist yet.
    ///
    /// # Errors
    /// When the server has no JetStream, or does not let this user use it.
    pub async fn open(connection: impl Into<Connection>, options: QueueOptions) -> Result<Self, Error> {
        Ok(Self { store: Arc::new(Store::open(connection.into(), options).await?) })
    }

    /// What is known of a job; nothing if it is not known, or not any more.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn status(&self, job: &JobId) -> Result<Option<Status>, Error> {
        let Some((state, _)) = self.store.read(job).await? else { return Ok(None) };
        Ok(Some(match state {
            State::Waiting => Status::Waiting,
            State::Running { worker, attempt, .. } => Status::Running { worker, attempt },
            State::Done { result } => Status::Done(self.store.result(job, result).await?),
        }))
    }

    /// Waits until a job is over. Servers that come back are waited for; nothing is lost by not waiting any longer.
    ///
    /// # Errors
    /// When there is no such job, or when the server does not let this user ask for it.
    pub async fn result(&self, job: &JobId) -> Result<ToolResult, Error> {
        // It is heard from here on, so that nothing is missed between a question and the next.
        let mut ends = self.store.ends(job).await.ok();
        loop {
            match self.status(job).await {
                Ok(Some(Status::Done(result))) => return Ok(result),
                Ok(Some(_)) => {}
                Ok(None) => return Err(unknown(job)),
                Err(error @ Error::Forbidden { .. }) => return Err(error),
                Err(error) => tracing::debug!(%job, %error, "a job cannot be asked for at the moment"),
            }
            match &mut ends {
                Some(heard) => {
                    if let Ok(None) = timeout(ASK, heard.next()).await {
                        ends = None;
                    }
                }
                None => sleep(ASK).await,
            }
        }
    }

    /// Has a job stopped; what it is then. One that no worker has begun is over at once. One that runs is told to stop,
    /// and its result says what became of it.
    ///
    /// # Errors
    /// When the server cannot be asked, or when there is no such job.
    pub async fn cancel(&self, job: &JobId) -> Result<Status, Error> {
        loop {
            let Some((state, revision)) = self.store.read(job).await? else { return Err(unknown(job)) };
            match state {
                State::Done { result } => return Ok(Status::Done(self.store.result(job, result).await?)),
                State::Running { message, worker, attempt, stop } => {
                    let stopped = State::Running { message, worker: worker.clone(), attempt, stop: true };
                    if stop || self.store.write(job, &stopped, revision).await? {
                        return Ok(Status::Running { worker, attempt });
                    }
                }
                State::Waiting => {
                    let message = format!("`{}` was cancelled before a worker had it.", job.tool());
                    let result = ToolResult::failure(ToolError::new(ErrorKind::Cancelled, message));
                    if self.store.write(job, &State::done(result.clone()), revision).await? {
                        self.store.tell_end(job).await;
                        return Ok(Status::Done(result));
                    }
                }
            }
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("space", self.store.space()).finish_non_exhaustive()
    }
}

fn unknown(job: &JobId) -> Error {
    Error::Job(job.as_str().to_owned())
}
