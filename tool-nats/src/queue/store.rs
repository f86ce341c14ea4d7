//! Storage of a queue in JetStream: a stream of jobs, and a bucket of their records.
//!
//! Every subject contains the name of the tool, so that permissions can be granted per tool.

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::kv::{CreateErrorKind, Operation, UpdateErrorKind};
use async_nats::jetstream::stream::{DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context, kv, stream};
use async_nats::{HeaderMap, Subscriber};
use bytes::Bytes;
use tool_runtime::ToolResult;

use super::job::{JobState, StoredResult};
use super::{JobId, QueueOptions};
use crate::{NatsConnection, NatsError, Space};

/// Space reserved in a message for the rest of a record, and headers.
const RESERVED_SPACE: usize = 4_096;

/// The JetStream storage of a queue.
pub(super) struct QueueStore {
    pub(super) connection: NatsConnection,
    pub(super) options: QueueOptions,
    context: Context,
    jobs: stream::Stream,
    states: kv::Store,
}

impl QueueStore {
    /// Opens the storage, or creates it.
    pub(super) async fn open(connection: NatsConnection, options: QueueOptions) -> Result<Self, NatsError> {
        let context = jetstream::new(connection.client().clone());
        let space = &options.space;
        let (stream, bucket, records) = (space.job_stream(), space.job_bucket(), states(&options));
        let jobs = context.get_or_create_stream(jobs(&options));
        let jobs = connection.permitted("open the stream of jobs", &stream, jobs).await?;
        let doing = "open the records of jobs";
        // `create_key_value` would first query the account limits, in a format that the server of Debian 12 lacks.
        connection.permitted(doing, &records.name, context.get_or_create_stream(&records)).await?;
        let states = connection.permitted(doing, &records.name, context.get_key_value(&bucket)).await?;
        Ok(Self { connection, options, context, jobs, states })
    }

    pub(super) fn space(&self) -> &Space {
        &self.options.space
    }

    /// Returns the record of a job and its revision.
    pub(super) async fn read(&self, job: &JobId) -> Result<Option<(JobState, u64)>, NatsError> {
        let entry = self.permitted("look up a job", job, self.states.entry(job.as_str())).await?;
        let Some(entry) = entry.filter(|entry| entry.operation == Operation::Put) else { return Ok(None) };
        let state = serde_json::from_slice(&entry.value).map_err(NatsError::nats("read the record of a job"))?;
        Ok(Some((state, entry.revision)))
    }

    /// Creates the record of a new job. Returns `false` if it exists.
    pub(super) async fn create(&self, job: &JobId) -> Result<bool, NatsError> {
        let doing = "record a job";
        let created = async {
            match self.states.create(job.as_str(), json(&JobState::Waiting)?).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(false),
                Err(error) => Err(error.into()),
            }
        };
        self.permitted::<_, async_nats::Error>(doing, job, created).await
    }

    /// Updates a record from this revision. Returns `false` if it was changed meanwhile.
    pub(super) async fn write(&self, job: &JobId, state: &JobState, revision: u64) -> Result<bool, NatsError> {
        let doing = "write the record of a job";
        let written = async {
            match self.states.update(job.as_str(), json(state)?, revision).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
                Err(error) => Err(error.into()),
            }
        };
        self.permitted::<_, async_nats::Error>(doing, job, written).await
    }

    /// Adds a job to the stream. After an error it may have been added.
    pub(super) async fn publish(&self, job: &JobId, headers: HeaderMap, arguments: Bytes) -> Result<(), NatsError> {
        let subject = self.space().job(job.tool());
        let published =
            async { self.context.publish_with_headers(subject.clone(), headers, arguments).await?.await.map(drop) };
        self.connection.permitted("submit a job", &subject, published).await
    }

    /// Subscribes to the end of a job.
    pub(super) async fn subscribe_end(&self, job: &JobId) -> Result<Subscriber, NatsError> {
        let subscribed = self.connection.client().subscribe(self.space().done(job.as_str())).await;
        subscribed.map_err(NatsError::nats("subscribe to the end of a job"))
    }

    /// Announces the end of a job. Waiting callers that miss it poll.
    pub(super) async fn announce_end(&self, job: &JobId) {
        let _ = self.connection.client().publish(self.space().done(job.as_str()), Bytes::new()).await;
    }

    /// Stores a result: in the record, or in separate parts if it is too long for a message.
    pub(super) async fn store_result(&self, job: &JobId, result: &ToolResult) -> Result<StoredResult, NatsError> {
        let doing = "store the result of a job";
        let whole = json(result).map_err(|source| NatsError::Nats { doing, source })?;
        let max_size = self.connection.client().max_payload().saturating_sub(RESERVED_SPACE).max(1);
        if whole.len() <= max_size {
            return Ok(StoredResult::Inline(Box::new(result.clone())));
        }
        let count = whole.len().div_ceil(max_size);
        for number in 0..count {
            let part = whole.slice(number * max_size..whole.len().min((number + 1) * max_size));
            self.permitted(doing, job, self.states.put(part_key(job, number), part)).await?;
        }
        Ok(StoredResult::Parts(count))
    }

    /// Loads a stored result.
    pub(super) async fn load_result(&self, job: &JobId, stored: StoredResult) -> Result<ToolResult, NatsError> {
        let doing = "read the result of a job";
        let count = match stored {
            StoredResult::Inline(result) => return Ok(*result),
            StoredResult::Parts(count) => count,
        };
        let mut json = Vec::new();
        for number in 0..count {
            let part = self.permitted(doing, job, self.states.get(part_key(job, number))).await?;
            let gone = || NatsError::Nats { doing, source: "a part is missing".into() };
            json.extend_from_slice(&part.ok_or_else(gone)?);
        }
        serde_json::from_slice(&json).map_err(NatsError::nats(doing))
    }

    /// Opens the consumer through which workers share the jobs of a tool. Its name is derived from the tool's, so that
    /// permissions can be granted for it, and is one token of a subject.
    pub(super) async fn consumer(&self, tool: &str) -> Result<PullConsumer, NatsError> {
        let name = tool.replace('.', "=");
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: self.space().job(tool),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.options.heartbeat_timeout,
            ..pull::Config::default()
        };
        let consumer = self.jobs.get_or_create_consumer(&name, config);
        self.connection.permitted("open the consumer of a tool", &name, consumer).await
    }

    /// Performs an operation on the record of a job.
    async fn permitted<T, E: Into<async_nats::Error>>(
        &self,
        doing: &'static str,
        job: &JobId,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, NatsError> {
        self.connection.permitted(doing, job.as_str(), work).await
    }
}

fn part_key(job: &JobId, number: usize) -> String {
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
        max_age: options.retention,
        num_replicas: options.replicas,
        ..stream::Config::default()
    }
}

/// Returns the configuration of the record bucket.
fn states(options: &QueueOptions) -> stream::Config {
    let bucket = options.space.job_bucket();
    stream::Config {
        name: format!("KV_{bucket}"),
        subjects: vec![format!("$KV.{bucket}.>")],
        max_messages_per_subject: 1,
        max_age: options.retention,
        storage: StorageType::File,
        num_replicas: options.replicas,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        ..stream::Config::default()
    }
}
