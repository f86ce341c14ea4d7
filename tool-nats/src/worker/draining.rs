//! A subscription that can be closed without losing messages in flight.

use std::pin::pin;
use std::time::Duration;

use async_nats::{Client, HeaderMap, Message};
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::WorkerShared;
use crate::NatsError;
use crate::wire::PROBE;

/// The timeout of a probe.
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// The message count after which a subscription ends that is to end now. async-nats drops a subscription that it ends,
/// together with messages in flight. A count that is too long for the server to parse ends the subscription there, but
/// not here. A server that could parse it would keep the subscription until this worker disconnects.
const UNPARSABLE_COUNT: u64 = 1 << 40;

/// A subscription that is read until this is dropped. Messages in flight are still read then.
pub(super) struct DrainingSubscription {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl DrainingSubscription {
    /// Subscribes to a subject in the queue group.
    pub(super) async fn start<F, Fut>(shared: &WorkerShared, subject: &str, handle: F) -> Result<Self, NatsError>
    where
        F: Fn(Message) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send,
    {
        let (client, asked) = (shared.client.clone(), subject.to_owned());
        let subscriber = client.queue_subscribe(asked.clone(), shared.space.group()).await;
        let mut subscriber = subscriber.map_err(NatsError::nats("subscribe to a tool's subject"))?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    message = subscriber.next() => match message {
                        Some(message) => handle(message).await,
                        None => return,
                    },
                    () = stopped.cancelled() => break,
                }
            }
            // Unsubscribe, and still take messages that the server sent before it processed that: until it has
            // replied to a later request.
            if subscriber.unsubscribe_after(UNPARSABLE_COUNT).await.is_err() {
                return;
            }
            let mut answered = pin!(timeout(PROBE_TIMEOUT, probe(&client, &asked)));
            loop {
                tokio::select! {
                    biased;
                    Some(message) = subscriber.next() => handle(message).await,
                    _ = &mut answered => break,
                }
            }
            while let Some(Some(message)) = subscriber.next().now_or_never() {
                handle(message).await;
            }
        });
        Ok(Self { stop, task })
    }

    /// Closes the subscription and waits until all messages are read.
    pub(super) async fn close(mut self) {
        self.stop.cancel();
        // A panic was logged by the panic hook.
        let _ = (&mut self.task).await;
    }
}

impl Drop for DrainingSubscription {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Returns `true` if a worker serves this subject. The server replies at once if none does.
pub(super) async fn probe(client: &Client, subject: &str) -> bool {
    let mut headers = HeaderMap::new();
    headers.insert(PROBE, "yes");
    client.request_with_headers(subject.to_owned(), headers, Bytes::new()).await.is_ok()
}
