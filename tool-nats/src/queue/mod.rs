//! Calls that must not be lost: a work queue in JetStream.
//!
//! A job is a message in a stream, which stays there until a worker has acknowledged it, and a record in a bucket, which
//! says what became of it. A worker claims a job by changing its record from one known revision to the next, so that of
//! several one has it. If it dies, the message is delivered again; whoever gets it sees in the record that the job was
//! begun. Only a job that may be repeated runs again then; of another the outcome is unknown, and the record says that.

mod record;
mod submit;
mod take;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context, kv, object_store, stream};
use tokio::io::AsyncReadExt;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use self::record::{Record, State};
pub(crate) use self::submit::{Job, Submitted};
pub(crate) use self::take::{Choice, Taking};
use crate::remote::{Inbox, Place};
use crate::{Error, Space, fingerprint};

/// How often a job is asked for whose end was not heard.
const ASK: Duration = Duration::from_secs(1);

/// What a job is known by. It comes from a call's conversation, id, tool and arguments where it has them, so that a
/// caller that was restarted and makes the same call again has the same job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobId(String);

impl JobId {
    /// The id as it was once given by [`as_str`](Self::as_str), or in a result's metadata under `job`.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(id: &str) -> Result<Self, Error> {
        let is_id = !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_id { Ok(Self(id.to_owned())) } else { Err(Error::Job(id.chars().take(128).collect())) }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
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

/// How a queue is made. All who use one have to agree on it.
#[derive(Clone, Debug)]
pub struct QueueOptions {
    space: Space,
    silence: Duration,
    keep: Duration,
    replicas: usize,
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

/// A work queue. Cheap to clone.
///
/// Jobs are submitted through a dispatcher, with [`Delivery::Submitted`](crate::Delivery::Submitted) or
/// [`Queued`](crate::Delivery::Queued), so that nothing gets into the queue that was not checked, asked about and recorded.
/// This asks for them, waits for them and cancels them, from any process and at any time.
#[derive(Clone)]
pub struct Queue {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    context: Context,
    options: QueueOptions,
    stream: stream::Stream,
    states: kv::Store,
    results: ObjectStore,
    inbox: Arc<Inbox>,
}

impl Queue {
    /// Opens the queue, and makes it where it does not exist yet.
    ///
    /// # Errors
    /// When the server has no JetStream, or does not let this client use it.
    pub async fn open(client: Client, options: QueueOptions) -> Result<Self, Error> {
        let context = jetstream::new(client.clone());
        let space = &options.space;
        let stream = stream::Config {
            name: space.job_stream(),
            subjects: vec![space.jobs()],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            max_age: options.keep,
            num_replicas: options.replicas,
            ..stream::Config::default()
        };
        let stream = context.get_or_create_stream(stream).await.map_err(Error::nats("open the stream of jobs"))?;
        let states = bucket(&context, &options).await?;
        let results = objects(&context, &options).await?;
        let inbox = Inbox::open(client.clone(), options.space.clone(), options.silence).await?;
        let inbox = Arc::new(inbox);
        Ok(Self { inner: Arc::new(Inner { client, context, options, stream, states, results, inbox }) })
    }

    /// What is known of a job; nothing if it is not known, or not any more.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn status(&self, job: &JobId) -> Result<Option<Status>, Error> {
        let Some((record, _)) = self.read(job).await? else { return Ok(None) };
        Ok(Some(match record.state {
            State::Waiting => Status::Waiting,
            State::Running { worker, attempt, .. } => Status::Running { worker, attempt },
            State::Done { .. } => Status::Done(self.result_of(job, record).await?),
        }))
    }

    /// Waits until a job is over. Servers that come back are waited for; nothing is lost by not waiting any longer.
    ///
    /// # Errors
    /// When there is no such job.
    pub async fn result(&self, job: &JobId) -> Result<ToolResult, Error> {
        self.wait(job, None).await
    }

    /// Has a job stopped; what it is then. One that no worker has begun is over at once. One that runs is told to stop,
    /// and its result says what became of it.
    ///
    /// # Errors
    /// When the server cannot be asked, or when there is no such job.
    pub async fn cancel(&self, job: &JobId) -> Result<Status, Error> {
        loop {
            let Some((mut record, revision)) = self.read(job).await? else { return Err(unknown(job)) };
            match &mut record.state {
                State::Done { .. } => return Ok(Status::Done(self.result_of(job, record).await?)),
                State::Running { worker, attempt, stop } => {
                    let status = Status::Running { worker: worker.clone(), attempt: *attempt };
                    if std::mem::replace(stop, true) || self.write(job, &record, revision).await?.is_some() {
                        return Ok(status);
                    }
                }
                State::Waiting => {
                    let message = format!("`{}` was cancelled before a worker had it.", record.tool);
                    let result = ToolResult::failure(ToolError::new(ErrorKind::Cancelled, message));
                    record.state = State::Done { result: Some(Box::new(result.clone())) };
                    if self.write(job, &record, revision).await?.is_some() {
                        return Ok(Status::Done(result));
                    }
                }
            }
        }
    }

    /// Waits for the end of a job, of which the place may hear.
    pub(crate) async fn wait(&self, job: &JobId, mut place: Option<Place>) -> Result<ToolResult, Error> {
        loop {
            match self.status(job).await {
                Ok(Some(Status::Done(result))) => return Ok(result),
                Ok(Some(_)) => {}
                Ok(None) => return Err(unknown(job)),
                Err(error) => tracing::debug!(%job, %error, "a job cannot be asked for at the moment"),
            }
            match &mut place {
                Some(heard) => match tokio::time::timeout(ASK, heard.end()).await {
                    Ok(_) => place = None,
                    Err(_) => continue,
                },
                None => tokio::time::sleep(ASK).await,
            }
        }
    }

    /// The record of a job and its revision.
    async fn read(&self, job: &JobId) -> Result<Option<(Record, u64)>, Error> {
        let entry = self.inner.states.entry(job.as_str()).await.map_err(Error::nats("ask for a job"))?;
        let Some(entry) = entry.filter(|entry| entry.operation == kv::Operation::Put) else { return Ok(None) };
        let record = serde_json::from_slice(&entry.value).map_err(Error::nats("read the record of a job"))?;
        Ok(Some((record, entry.revision)))
    }

    /// Changes a record from a revision to the next; nothing if somebody else has changed it.
    async fn write(&self, job: &JobId, record: &Record, revision: u64) -> Result<Option<u64>, Error> {
        let json = serde_json::to_vec(record).map_err(Error::nats("write the record of a job"))?;
        match self.inner.states.update(job.as_str(), json.into(), revision).await {
            Ok(revision) => Ok(Some(revision)),
            Err(error) if error.kind() == kv::UpdateErrorKind::WrongLastRevision => Ok(None),
            Err(error) => Err(Error::nats("write the record of a job")(error)),
        }
    }

    /// The result of a job that is over, which may be too long to stand in its record.
    async fn result_of(&self, job: &JobId, record: Record) -> Result<ToolResult, Error> {
        if let State::Done { result: Some(result) } = record.state {
            return Ok(*result);
        }
        let doing = "read the result of a job";
        let mut object = self.inner.results.get(job.as_str()).await.map_err(Error::nats(doing))?;
        let mut json = Vec::new();
        object.read_to_end(&mut json).await.map_err(Error::nats(doing))?;
        serde_json::from_slice(&json).map_err(Error::nats(doing))
    }

    /// The consumer through which workers share the jobs of a tool.
    async fn consumer(&self, tool: &str) -> Result<PullConsumer, Error> {
        let mut name = tool.replace('.', "_");
        // Two names may become the same one by that.
        name.push('-');
        name.push_str(&fingerprint::of_text(tool)[..8]);
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: self.inner.options.space.job(tool),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.inner.options.silence,
            ..pull::Config::default()
        };
        let consumer = self.inner.stream.get_or_create_consumer(&name, config).await;
        consumer.map_err(Error::nats("open the jobs of a tool"))
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("space", &self.inner.options.space).finish_non_exhaustive()
    }
}

fn unknown(job: &JobId) -> Error {
    Error::Job(job.as_str().to_owned())
}

/// The records of jobs, as a bucket of keys and values. Its stream is made here: async-nats would first ask for the limits
/// of the account, in a form that the server of Debian 12 does not have.
async fn bucket(context: &Context, options: &QueueOptions) -> Result<kv::Store, Error> {
    let bucket = options.space.job_bucket();
    let stream = stream::Config {
        name: format!("KV_{bucket}"),
        subjects: vec![format!("$KV.{bucket}.>")],
        max_messages_per_subject: 1,
        max_age: options.keep,
        storage: StorageType::File,
        num_replicas: options.replicas,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        ..stream::Config::default()
    };
    let doing = "open the records of jobs";
    context.get_or_create_stream(stream).await.map_err(Error::nats(doing))?;
    context.get_key_value(bucket).await.map_err(Error::nats(doing))
}

async fn objects(context: &Context, options: &QueueOptions) -> Result<ObjectStore, Error> {
    let config = object_store::Config {
        bucket: options.space.result_bucket(),
        max_age: options.keep,
        num_replicas: options.replicas,
        ..object_store::Config::default()
    };
    match context.get_object_store(&config.bucket).await {
        Ok(objects) => Ok(objects),
        Err(_) => context.create_object_store(config).await.map_err(Error::nats("open the results of jobs")),
    }
}
