//! How a worker takes jobs.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{interval, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};
use tool_runtime::{Definitions, ErrorKind, ToolDefinition, ToolError, ToolResult};

use super::record::{Record, State};
use super::{JobId, Queue};
use crate::Error;
use crate::wire::{CallHeaders, JOB, NOTIFY, REPEAT, header};
use crate::worker::{Confirmed, Shared, Tool};

/// How long a request for jobs waits for some.
const PULL: Duration = Duration::from_secs(5);

/// How long to wait before asking again when the server cannot be asked.
const RETRY: Duration = Duration::from_millis(500);

/// How often somebody is asked for who wants a job stopped.
const LOOK: Duration = Duration::from_secs(1);

/// How often a result is tried to be recorded.
const TRIES: u32 = 60;

/// Room in a record for what is not the result.
const RECORD_ROOM: usize = 4_096;

/// Which tools are taken from a queue.
pub(crate) type Choice = Arc<dyn Fn(&str, &ToolDefinition) -> bool + Send + Sync>;

/// What a worker takes from a queue: the jobs of each of its tools, so many at a time.
pub(crate) struct Taking {
    queue: Queue,
    queued: Choice,
    places: usize,
    tools: BTreeMap<String, (Arc<Tool>, DropGuard)>,
}

impl Taking {
    pub(crate) fn new(queue: Queue, queued: Choice, places: usize) -> Self {
        Self { queue, queued, places, tools: BTreeMap::new() }
    }

    /// Takes the jobs of these tools from now on.
    pub(crate) fn update<'a>(
        &mut self,
        shared: &Arc<Shared>,
        definitions: &Definitions,
        tools: impl Iterator<Item = &'a Arc<Tool>>,
    ) {
        let mut taken = BTreeMap::new();
        for tool in tools {
            let definition =
                definitions.iter().find(|(name, _)| **name == *tool.name).map(|(_, definition)| definition);
            if !definition.is_some_and(|definition| (self.queued)(&tool.name, definition)) {
                continue;
            }
            let entry = match self.tools.remove(&tool.name) {
                Some(entry) if Arc::ptr_eq(&entry.0, tool) => entry,
                _ => (tool.clone(), self.take(shared, tool)),
            };
            taken.insert(tool.name.clone(), entry);
        }
        self.tools = taken;
    }

    fn take(&self, shared: &Arc<Shared>, tool: &Arc<Tool>) -> DropGuard {
        let stop = CancellationToken::new();
        let taker = Taker { queue: self.queue.clone(), shared: shared.clone(), tool: tool.clone() };
        let places = Arc::new(Semaphore::new(self.places));
        let limit = u32::try_from(self.places).unwrap_or(u32::MAX);
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            loop {
                if let Err(error) = taker.take(&places, limit).await {
                    tracing::debug!(tool = taker.tool.name, %error, "no jobs can be had at the moment");
                }
                sleep(RETRY).await;
            }
        }));
        stop.drop_guard()
    }
}

/// Takes the jobs of one tool.
#[derive(Clone)]
struct Taker {
    queue: Queue,
    shared: Arc<Shared>,
    tool: Arc<Tool>,
}

impl Taker {
    /// Takes jobs until the server cannot be asked. No more are asked for than can run at once: what is delivered and
    /// waits here would be taken to be lost.
    async fn take(&self, places: &Arc<Semaphore>, limit: u32) -> Result<(), Error> {
        let consumer = self.queue.consumer(&self.tool.name).await?;
        loop {
            let mut free = vec![acquire(places.clone()).await];
            while free.len() < limit as usize
                && let Ok(permit) = places.clone().try_acquire_owned()
            {
                free.push(Some(permit));
            }
            let batch = consumer.batch().max_messages(free.len()).expires(PULL).messages().await;
            let mut batch = batch.map_err(Error::nats("ask for jobs"))?;
            while let Some(message) = batch.next().await {
                let message = message.map_err(|source| Error::Nats { doing: "take a job", source })?;
                let (taker, permit) = (self.clone(), free.pop());
                self.shared.calls.spawn(async move {
                    taker.run(message).await;
                    drop(permit);
                });
            }
        }
    }

    /// Does a job, if it is still to be done.
    async fn run(&self, message: Message) {
        let headers = message.headers.as_ref();
        let Some(job) = header(headers, JOB).and_then(|id| JobId::parse(id).ok()) else {
            tracing::warn!(tool = self.tool.name, "a message in the queue is no job");
            return acknowledge(&message, AckKind::Term).await;
        };
        let may_repeat = header(headers, REPEAT).is_some() && self.tool.repeatable;
        match self.claim(&job, may_repeat).await {
            Ok(Claim::Mine { attempt }) => {
                let result = self.work(&job, &message, attempt).await;
                if !self.finish(&job, attempt, result).await {
                    // Delivered again, it will be seen that it was begun.
                    return;
                }
            }
            Ok(Claim::Over) => {}
            Err(error) => {
                tracing::warn!(%job, %error, "a job cannot be begun; it will be delivered again");
                return acknowledge(&message, AckKind::Nak(Some(RETRY))).await;
            }
        }
        acknowledge(&message, AckKind::Ack).await;
        if let Some(notify) = header(headers, NOTIFY) {
            // Whoever does not hear it asks.
            let _ = self.shared.client.publish(notify.to_owned(), Bytes::new()).await;
        }
    }

    /// Takes a job, so that nobody else does.
    async fn claim(&self, job: &JobId, may_repeat: bool) -> Result<Claim, Error> {
        loop {
            let Some((mut record, revision)) = self.queue.read(job).await? else { return Ok(Claim::Over) };
            let attempt = match record.state {
                State::Done { .. } => return Ok(Claim::Over),
                State::Waiting => 1,
                State::Running { attempt, .. } if may_repeat => attempt + 1,
                State::Running { ref worker, .. } => {
                    let message = format!(
                        "`{}` was begun by the worker {worker}, which was lost: it may have taken effect. Look before you call it again.",
                        self.tool.name
                    );
                    let result = ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message));
                    record.state = State::Done { result: Some(Box::new(result)) };
                    match self.queue.write(job, &record, revision).await? {
                        Some(_) => return Ok(Claim::Over),
                        None => continue,
                    }
                }
            };
            record.state = State::Running { worker: self.shared.id.clone(), attempt, stop: false };
            if self.queue.write(job, &record, revision).await?.is_some() {
                return Ok(Claim::Mine { attempt });
            }
        }
    }

    /// Runs the call, and says meanwhile that it runs.
    async fn work(&self, job: &JobId, message: &Message, attempt: u32) -> ToolResult {
        let result = self.call(job, message, None).await;
        let is_unknown =
            |result: &ToolResult| result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::OutcomeUnknown);
        if attempt > 1 && is_unknown(&result) {
            // A journal knows that the first attempt was left in the middle. This one may run all the same.
            return self.call(job, message, Some(attempt)).await;
        }
        result
    }

    async fn call(&self, job: &JobId, message: &Message, attempt: Option<u32>) -> ToolResult {
        let Ok(arguments) = std::str::from_utf8(&message.payload) else {
            let message = format!("Invalid arguments for `{}`: they are no text.", self.tool.name);
            return ToolResult::failure(ToolError::new(ErrorKind::InvalidArguments, message));
        };
        let mut headers = CallHeaders::read(message.headers.as_ref());
        if let (Some(attempt), Some(id)) = (attempt, &headers.id) {
            headers.id = Some(format!("{id}~{attempt}").into());
        }
        let token = tool_runtime::CancellationToken::new();
        let mut call = self.shared.dispatcher.call(headers.call(&self.tool.name, arguments)).cancel(token.clone());
        if self.tool.sensitive && headers.consent && self.shared.trusts_consent {
            call = call.confirm(Confirmed);
        }
        let mut call = pin!(call);
        let mut beat = interval(LOOK.min(self.queue.inner.options.silence / 3));
        loop {
            tokio::select! {
                biased;
                result = &mut call => return result,
                _ = beat.tick() => {
                    acknowledge(message, AckKind::Progress).await;
                    if self.is_to_stop(job).await {
                        token.cancel();
                    }
                }
            }
        }
    }

    async fn is_to_stop(&self, job: &JobId) -> bool {
        matches!(self.queue.read(job).await, Ok(Some((Record { state: State::Running { stop: true, .. }, .. }, _))))
    }

    /// Records a result, whether it could be. It counts only as long as nobody else has taken this worker to be lost.
    async fn finish(&self, job: &JobId, attempt: u32, result: ToolResult) -> bool {
        for _ in 0..TRIES {
            match self.record(job, attempt, &result).await {
                Ok(()) => return true,
                Err(error) => tracing::debug!(%job, %error, "a result cannot be recorded at the moment"),
            }
            sleep(RETRY).await;
        }
        tracing::error!(%job, "the result of a job could not be recorded");
        false
    }

    async fn record(&self, job: &JobId, mine: u32, result: &ToolResult) -> Result<(), Error> {
        let json = serde_json::to_vec(result).map_err(Error::nats("write the result of a job"))?;
        let is_long = json.len() + RECORD_ROOM > self.shared.client.max_payload();
        if is_long {
            let put = self.queue.inner.results.put(job.as_str(), &mut json.as_slice()).await;
            put.map_err(Error::nats("keep the result of a job"))?;
        }
        let result = (!is_long).then(|| Box::new(result.clone()));
        loop {
            let Some((mut record, revision)) = self.queue.read(job).await? else { return Ok(()) };
            let is_mine = matches!(&record.state, State::Running { worker, attempt, .. } if *worker == self.shared.id && *attempt == mine);
            if !is_mine {
                tracing::warn!(%job, "a job was done after its worker was taken to be lost");
                return Ok(());
            }
            record.state = State::Done { result: result.clone() };
            if self.queue.write(job, &record, revision).await?.is_some() {
                return Ok(());
            }
        }
    }
}

enum Claim {
    Mine { attempt: u32 },
    Over,
}

async fn acquire(places: Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    // It is never closed.
    places.acquire_owned().await.ok()
}

async fn acknowledge(message: &Message, kind: AckKind) {
    if let Err(error) = message.ack_with(kind).await {
        tracing::debug!(%error, "a job could not be acknowledged");
    }
}
