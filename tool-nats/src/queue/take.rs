//! How a worker takes jobs.

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

use super::Queue;
use super::work::Hand;
use crate::Error;
use crate::worker::{Shared, Tool};

/// How long a request for jobs waits for some. Each tool of each worker always has one at the server.
const PULL: Duration = Duration::from_secs(30);

/// How often it is looked whether the connection is still the one over which jobs were asked for.
const LOOK: Duration = Duration::from_secs(1);

/// How long to wait before asking again when the server cannot be asked.
const RETRY: Duration = Duration::from_millis(500);

/// How long, when the server does not let this worker.
const FORBIDDEN_RETRY: Duration = Duration::from_secs(30);

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

    /// Whether the server lets this worker take them: one that it does not would wait for jobs in vain. Anything else that
    /// is wrong may be right soon.
    pub(crate) async fn check(&self) -> Result<(), Error> {
        let opened = join_all(self.tools.keys().map(|tool| self.queue.store.consumer(tool))).await;
        let forbidden = opened.into_iter().filter_map(Result::err).find(|e| matches!(e, Error::Forbidden { .. }));
        forbidden.map_or(Ok(()), Err)
    }

    fn take(&self, shared: &Arc<Shared>, tool: &Arc<Tool>) -> DropGuard {
        let stop = CancellationToken::new();
        let hand = Hand { store: self.queue.store.clone(), shared: shared.clone(), tool: tool.clone() };
        let places = Arc::new(Semaphore::new(self.places));
        let limit = u32::try_from(self.places).unwrap_or(u32::MAX);
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            loop {
                let Err(error) = take(&hand, &places, limit).await;
                tracing::debug!(tool = hand.tool.name, %error, "no jobs can be had at the moment");
                sleep(if matches!(error, Error::Forbidden { .. }) { FORBIDDEN_RETRY } else { RETRY }).await;
            }
        }));
        stop.drop_guard()
    }
}

/// Takes the jobs of one tool until the server cannot be asked. No more are asked for than can run at once: what is
/// delivered and waits here would be taken to be lost.
async fn take(hand: &Hand, places: &Arc<Semaphore>, limit: u32) -> Result<Infallible, Error> {
    let consumer = hand.store.consumer(&hand.tool.name).await?;
    loop {
        let mut free = vec![acquire(places.clone()).await];
        while free.len() < limit as usize
            && let Ok(permit) = places.clone().try_acquire_owned()
        {
            free.push(Some(permit));
        }
        let connects = hand.connects();
        let batch = consumer.batch().max_messages(free.len()).expires(PULL).messages().await;
        let mut batch = batch.map_err(Error::nats("ask for jobs"))?;
        loop {
            let message = tokio::select! {
                message = batch.next() => message,
                // A server forgets what it was asked over a connection that is gone.
                () = reconnected(hand, connects) => break,
            };
            let Some(message) = message else { break };
            let message = message.map_err(|source| Error::Nats { doing: "take a job", source })?;
            let (doing, permit) = (hand.clone(), free.pop());
            hand.shared.calls.spawn(async move {
                doing.run(message).await;
                drop(permit);
            });
        }
    }
}

/// Waits until there is another connection than when so many had been made.
async fn reconnected(hand: &Hand, connects: u64) {
    while hand.connects() == connects {
        sleep(LOOK).await;
    }
}

async fn acquire(places: Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    // It is never closed.
    places.acquire_owned().await.ok()
}
