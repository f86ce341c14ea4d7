//! What JetStream holds of a queue: a stream of jobs, and a bucket with what became of them.
//!
//! Every subject has the name of the job's tool in it, so that the server can be told who may do which jobs.

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::kv::{CreateErrorKind, Operation, UpdateErrorKind};
use async_nats::jetstream::stream::{DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context, kv, stream};
use async_nats::{HeaderMap, Subscriber};
use bytes::Bytes;
use tool_runtime::ToolResult;

use super::JobId;
use super::options::QueueOptions;
use super::record::{Kept, State};
use crate::{Connection, Error, Space};

/// Room in a message for what is not a part of a result: the rest of a record, and headers.
const ROOM: usize = 4_096;

/// What JetStream holds of a queue.
pub(super) struct Store {
    pub(super) connection: Connection,
    pub(super) options: QueueOptions,
    context: Context,
    jobs: stream::Stream,
    states: kv::Store,
}

impl Store {
    /// Opens it, and makes it where it does not exist yet.
    pub(super) async fn open(connection: Connection, options: QueueOptions) -> Result<Self, Error> {
        let context = jetstream::new(connection.client().clone());
        let space = &options.space;
        let (stream, bucket, records) = (space.job_stream(), space.job_bucket(), states(&options));
        let jobs = context.get_or_create_stream(jobs(&options));
        let jobs = connection.allowed("open the stream of jobs", &stream, jobs).await?;
        let doing = "open the records of jobs";
        // async-nats would first ask for the limits of the account, in a form that the server of Debian 12 does not have.
        connection.allowed(doing, &records.name, context.get_or_create_stream(&records)).await?;
        let states = connection.allowed(doing, &records.name, context.get_key_value(&bucket)).await?;
        Ok(Self { connection, options, context, jobs, states })
    }

    pub(super) fn space(&self) -> &Space {
        &self.options.space
    }

    /// The record of a job and its revision.
    pub(super) async fn read(&self, job: &JobId) -> Result<Option<(State, u64)>, Error> {
        let entry = self.allowed("ask for a job", job, self.states.entry(job.as_str())).await?;
        let Some(entry) = entry.filter(|entry| entry.operation == Operation::Put) else { return Ok(None) };
        let state = serde_json::from_slice(&entry.value).map_err(Error::nats("read the record of a job"))?;
        Ok(Some((state, entry.revision)))
    }

    /// Records a job that nobody has begun; whether it was not on record yet.
    pub(super) async fn create(&self, job: &JobId) -> Result<bool, Error> {
        let doing = "record a job";
        let created = async {
            match self.states.create(job.as_str(), json(&State::Waiting)?).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(false),
                Err(error) => Err(error.into()),
            }
        };
        self.allowed::<_, async_nats::Error>(doing, job, created).await
    }

    /// Changes a record from a revision to the next; not if somebody else has changed it meanwhile.
    pub(super) async fn write(&self, job: &JobId, state: &State, revision: u64) -> Result<bool, Error> {
        let doing = "write the record of a job";
        let written = async {
            match self.states.update(job.as_str(), json(state)?, revision).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
                Err(error) => Err(error.into()),
            }
        };
        self.allowed::<_, async_nats::Error>(doing, job, written).await
    }

    /// Puts a job into the stream. What was sent and not acknowledged may be there.
    pub(super) async fn put(&self, job: &JobId, headers: HeaderMap, arguments: Bytes) -> Result<(), Error> {
        let subject = self.space().job(job.tool());
        let published =
            async { self.context.publish_with_headers(subject.clone(), headers, arguments).await?.await.map(drop) };
        self.connection.allowed("put a job into the queue", &subject, published).await
    }

    /// Where the end of a job is told.
    pub(super) async fn ends(&self, job: &JobId) -> Result<Subscriber, Error> {
        let subscribed = self.connection.client().subscribe(self.space().done(job.as_str())).await;
        subscribed.map_err(Error::nats("subscribe to the end of a job"))
    }

    /// Tells the end of a job. Whoever does not hear it asks.
    pub(super) async fn tell_end(&self, job: &JobId) {
        let _ = self.connection.client().publish(self.space().done(job.as_str()), Bytes::new()).await;
    }

    /// Keeps a result: in the record, or beside it where it is too long for a message.
    pub(super) async fn keep(&self, job: &JobId, result: &ToolResult) -> Result<Kept, Error> {
        let doing = "keep the result of a job";
        let whole = json(result).map_err(|source| Error::Nats { doing, source })?;
        let most = self.connection.client().max_payload().saturating_sub(ROOM).max(1);
        if whole.len() <= most {
            return Ok(Kept::Here(Box::new(result.clone())));
        }
        let count = whole.len().div_ceil(most);
        for number in 0..count {
            let part = whole.slice(number * most..whole.len().min((number + 1) * most));
            self.allowed(doing, job, self.states.put(part_of(job, number), part)).await?;
        }
        Ok(Kept::Parts(count))
    }

    /// A result that was kept.
    pub(super) async fn result(&self, job: &JobId, kept: Kept) -> Result<ToolResult, Error> {
        let doing = "read the result of a job";
        let count = match kept {
            Kept::Here(result) => return Ok(*result),
            Kept::Parts(count) => count,
        };
        let mut json = Vec::new();
        for number in 0..count {
            let part = self.allowed(doing, job, self.states.get(part_of(job, number))).await?;
            let gone = || Error::Nats { doing, source: "a part of it is gone".into() };
            json.extend_from_slice(&part.ok_or_else(gone)?);
        }
        serde_json::from_slice(&json).map_err(Error::nats(doing))
    }

    /// The consumer through which workers share the jobs of a tool. It is named as the tool, so that permissions can be
    /// given for it; its name is one token of a subject.
    pub(super) async fn consumer(&self, tool: &str) -> Result<PullConsumer, Error> {
        let name = tool.replace('.', "=");
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: self.space().job(tool),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.options.silence,
            ..pull::Config::default()
        };
        let consumer = self.jobs.get_or_create_consumer(&name, config);
        self.connection.allowed("open the jobs of a tool", &name, consumer).await
    }

    /// Does something with the record of a job.
    async fn allowed<T, E: Into<async_nats::Error>>(
        &self,
        doing: &'static str,
        job: &JobId,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Error> {
        self.connection.allowed(doing, job.as_str(), work).await
    }
}

fn part_of(job: &JobId, number: usize) -> String {
    format!("{job}.{number}")
}

fn json(value: &impl serde::Serialize) -> Result<Bytes, async_nats::Error> {
    Ok(serde_json::to_vec(value)?.into())
}

fn jobs(options: &QueueOptions) -> stream::Config {
    stream::Config {
        name: options.space.job_stream(),
        subjects: vec![options.space.jobs()],
        retention: RetentionPolicy::WorkQueue,
        storage: StorageType::File,
        max_age: options.keep,
        num_replicas: options.replicas,
        ..stream::Config::default()
    }
}

/// The records of jobs, as a bucket of keys and values.
fn states(options: &QueueOptions) -> stream::Config {
    let bucket = options.space.job_bucket();
    stream::Config {
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
    }
}
