//! A subscription that can be ended without losing what is on its way.

use std::pin::pin;
use std::time::Duration;

use async_nats::{Client, HeaderMap, Message};
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::Error;
use crate::wire::PROBE;

/// How long the server may take to say whether somebody listens.
pub(super) const PROBE_PATIENCE: Duration = Duration::from_secs(1);

/// After how many messages a subscription ends that is to end at once. async-nats forgets a subscription that it ends, and
/// with it what is on its way. A number that is too long for the server ends it there and not here; a server that could
/// read it would go on until this worker's connection ends.
const SERVER_STOPS: u64 = 1 << 40;

/// A subscription that is read until this is dropped. What is on its way then is still read.
pub(super) struct Reading {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Reading {
    /// Reads a subject, as one of its queue group.
    pub(super) async fn start<F, Fut>(shared: &Shared, subject: &str, take: F) -> Result<Self, Error>
    where
        F: Fn(Message) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send,
    {
        let (client, asked) = (shared.client.clone(), subject.to_owned());
        let subscriber = client.queue_subscribe(asked.clone(), shared.space.group()).await;
        let mut subscriber = subscriber.map_err(Error::nats("subscribe to a tool's subject"))?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    message = subscriber.next() => match message {
                        Some(message) => take(message).await,
                        None => return,
                    },
                    () = stopped.cancelled() => break,
                }
            }
            // The server is told, and what it has sent before it hears that is still taken: as long as the server has
            // not answered something that it was asked after that.
            if subscriber.unsubscribe_after(SERVER_STOPS).await.is_err() {
                return;
            }
            let mut answered = pin!(timeout(PROBE_PATIENCE, probe(&client, &asked)));
            loop {
                tokio::select! {
                    biased;
                    Some(message) = subscriber.next() => take(message).await,
                    _ = &mut answered => break,
                }
            }
            while let Some(Some(message)) = subscriber.next().now_or_never() {
                take(message).await;
            }
        });
        Ok(Self { stop, task })
    }

    /// Ends it, and waits until all is read.
    pub(super) async fn end(mut self) {
        self.stop.cancel();
        // A panic there was logged where it happened.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Asks whether somebody listens to a tool's subject; the server says at once if nobody does.
pub(super) async fn probe(client: &Client, subject: &str) -> bool {
    let mut headers = HeaderMap::new();
    headers.insert(PROBE, "yes");
    client.request_with_headers(subject.to_owned(), headers, Bytes::new()).await.is_ok()
}
