//! Consumption of jobs by a worker.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};
use tool_runtime::ToolDefinition;
use tool_runtime::manifest::Definitions;

use super::WorkQueue;
use super::job_runner::JobRunner;
use crate::NatsError;
use crate::worker::{ServedTool, WorkerShared};

/// The timeout of a pull request. Each tool of each worker always has one pending.
const PULL_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval at which a reconnect is checked for.
const RECONNECT_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The delay before retrying after an error.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// The delay after a permission violation.
const DENIED_RETRY_DELAY: Duration = Duration::from_secs(30);

/// A predicate for the tools that are taken from a queue.
pub(crate) type ToolFilter = Arc<dyn Fn(&str, &ToolDefinition) -> bool + Send + Sync>;

/// The consumers of a worker: one for each of its tools, with a limited number of permits.
pub(crate) struct QueueConsumer {
    queue: WorkQueue,
    queued: ToolFilter,
    permits: usize,
    tools: BTreeMap<String, (Arc<ServedTool>, DropGuard)>,
}

impl QueueConsumer {
    pub(crate) fn new(queue: WorkQueue, queued: ToolFilter, permits: usize) -> Self {
        Self { queue, queued, permits, tools: BTreeMap::new() }
    }

    /// Consumes the jobs of these tools from now on.
    pub(crate) fn update<'a>(
        &mut self,
        shared: &Arc<WorkerShared>,
        definitions: &Definitions,
        tools: impl Iterator<Item = &'a Arc<ServedTool>>,
    ) {
        let mut consumed = BTreeMap::new();
        for tool in tools {
            let definition =
                definitions.iter().find(|(name, _)| **name == *tool.name).map(|(_, definition)| definition);
            if !definition.is_some_and(|definition| (self.queued)(&tool.name, definition)) {
                continue;
            }
            let entry = match self.tools.remove(&tool.name) {
                Some(entry) if Arc::ptr_eq(&entry.0, tool) => entry,
                _ => (tool.clone(), self.consume(shared, tool)),
            };
            consumed.insert(tool.name.clone(), entry);
        }
        self.tools = consumed;
    }

    /// Fails if the server denies a consumer, because the worker would wait in vain. Other errors may be temporary.
    pub(crate) async fn check(&self) -> Result<(), NatsError> {
        let opened = join_all(self.tools.keys().map(|tool| self.queue.store.consumer(tool))).await;
        let forbidden = opened.into_iter().filter_map(Result::err).find(|e| matches!(e, NatsError::Forbidden { .. }));
        forbidden.map_or(Ok(()), Err)
    }

    fn consume(&self, shared: &Arc<WorkerShared>, tool: &Arc<ServedTool>) -> DropGuard {
        let stop = CancellationToken::new();
        let runner = JobRunner { store: self.queue.store.clone(), shared: shared.clone(), tool: tool.clone() };
        let permits = Arc::new(Semaphore::new(self.permits));
        let limit = u32::try_from(self.permits).unwrap_or(u32::MAX);
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            loop {
                let Err(error) = consume(&runner, &permits, limit).await;
                tracing::debug!(tool = runner.tool.name, %error, "cannot pull jobs, retrying");
                sleep(if matches!(error, NatsError::Forbidden { .. }) { DENIED_RETRY_DELAY } else { RETRY_DELAY })
                    .await;
            }
        }));
        stop.drop_guard()
    }
}

/// Consumes the jobs of one tool until an error. Pulls no more than can run at once, because jobs that wait here would
/// be considered lost.
async fn consume(runner: &JobRunner, permits: &Arc<Semaphore>, limit: u32) -> Result<Infallible, NatsError> {
    let consumer = runner.store.consumer(&runner.tool.name).await?;
    loop {
        let mut available = vec![acquire(permits.clone()).await];
        while available.len() < limit as usize
            && let Ok(permit) = permits.clone().try_acquire_owned()
        {
            available.push(Some(permit));
        }
        let connects = runner.connects();
        let batch = consumer.batch().max_messages(available.len()).expires(PULL_TIMEOUT).messages().await;
        let mut batch = batch.map_err(NatsError::nats("pull jobs"))?;
        loop {
            let message = tokio::select! {
                message = batch.next() => message,
                // The server drops pull requests of a closed connection.
                () = reconnected(runner, connects) => break,
            };
            let Some(message) = message else { break };
            let message = message.map_err(|source| NatsError::Nats { doing: "receive a job", source })?;
            let (job_runner, permit) = (runner.clone(), available.pop());
            runner.shared.calls.spawn(async move {
                job_runner.run(message).await;
                drop(permit);
            });
        }
    }
}

/// Waits until the number of connections made differs from `connects`.
async fn reconnected(runner: &JobRunner, connects: u64) {
    while runner.connects() == connects {
        sleep(RECONNECT_CHECK_INTERVAL).await;
    }
}

async fn acquire(permits: Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    // The semaphore is never closed.
    permits.acquire_owned().await.ok()
}
