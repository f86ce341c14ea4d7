//! Receiver of replies to this process's calls. There is one subscription for all of them: the last token of the reply
//! subject identifies the call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::{Client, Message, Subject, Subscriber};
use futures_util::{FutureExt, StreamExt};
use rustc_hash::FxHashMap;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::connection::{PermissionViolation, ViolationSubscription};
use crate::wire::{ReceivedReply, ReplyParts};
use crate::{NatsConnection, NatsError, Space};

/// The bounds of the interval at which silent calls are searched. One pass over all calls is cheaper than a timer each.
const SWEEP: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// The maximum number of messages that are processed at once.
const BATCH: usize = 64;

/// The end of a call.
#[derive(Debug)]
pub(super) enum ReplyEnd {
    /// No worker is subscribed, as reported by the server: nothing ran.
    NoWorkers,
    Result(tool_runtime::ToolResult),
    /// The server denied the call: nothing ran.
    Denied(String),
    /// The worker was silent for this long.
    Silent(Duration),
}

/// The receiver of replies.
pub(super) struct ReplyInbox {
    client: Client,
    space: Space,
    /// The prefix of all its subjects.
    prefix: String,
    next: AtomicU64,
    waiting: Arc<Mutex<PendingReplies>>,
    _reading: DropGuard,
}

type PendingReplies = FxHashMap<u64, PendingReply>;

/// A call in flight.
struct PendingReply {
    /// The subject it was sent to.
    to: Subject,
    end: oneshot::Sender<ReplyEnd>,
    progress: Option<mpsc::Sender<Value>>,
    last_heard: Instant,
    /// The worker that runs it, once known.
    worker: Option<String>,
    /// Set if it is to be cancelled as soon as its worker is known.
    is_cancelled: bool,
    parts: ReplyParts,
}

impl ReplyInbox {
    pub(super) async fn open(
        connection: &NatsConnection,
        space: Space,
        heartbeat_timeout: Duration,
    ) -> Result<Self, NatsError> {
        let client = connection.client().clone();
        let prefix = format!("{}.", client.new_inbox());
        let subscriber =
            client.subscribe(format!("{prefix}*")).await.map_err(NatsError::nats("subscribe to replies"))?;
        let stop = CancellationToken::new();
        let reader = ReplyReader {
            client: client.clone(),
            space: space.clone(),
            prefix: prefix.clone(),
            waiting: Arc::default(),
            heartbeat_timeout,
        };
        let waiting = reader.waiting.clone();
        let denied = end_denied(waiting.clone(), connection.violations().subscribe());
        tokio::spawn(stop.clone().run_until_cancelled_owned(denied));
        tokio::spawn(stop.clone().run_until_cancelled_owned(reader.read(subscriber)));
        Ok(Self { client, space, prefix, next: AtomicU64::new(0), waiting, _reading: stop.drop_guard() })
    }

    /// Registers a call to this subject.
    pub(super) fn register(self: &Arc<Self>, to: &Subject, progress: Option<mpsc::Sender<Value>>) -> CallHandle {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (end, ended) = oneshot::channel();
        let (to, last_heard) = (to.clone(), Instant::now());
        let entry = PendingReply {
            to,
            end,
            progress,
            last_heard,
            worker: None,
            is_cancelled: false,
            parts: ReplyParts::default(),
        };
        lock(&self.waiting).insert(number, entry);
        CallHandle { inbox: self.clone(), number, ended, is_over: false }
    }
}

fn lock(waiting: &Mutex<PendingReplies>) -> MutexGuard<'_, PendingReplies> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A handle of a call in flight. Dropping it before the reply cancels the call.
pub(super) struct CallHandle {
    inbox: Arc<ReplyInbox>,
    number: u64,
    ended: oneshot::Receiver<ReplyEnd>,
    is_over: bool,
}

impl CallHandle {
    /// Returns the reply subject.
    pub(super) fn subject(&self) -> Subject {
        format!("{}{}", self.inbox.prefix, self.number).into()
    }

    /// Waits for the end of the call. Cancel safe.
    pub(super) async fn end(&mut self) -> ReplyEnd {
        let end = (&mut self.ended).await;
        self.is_over = true;
        // The sender lives as long as the inbox, which this holds.
        end.unwrap_or(ReplyEnd::Silent(Duration::ZERO))
    }

    /// Cancels the call: now, or as soon as its worker is known.
    pub(super) fn cancel(&self) {
        let worker = match lock(&self.inbox.waiting).get_mut(&self.number) {
            Some(entry) => {
                entry.is_cancelled = true;
                entry.worker.clone()
            }
            None => None,
        };
        if let Some(worker) = worker {
            let (client, subject) = (self.inbox.client.clone(), self.inbox.space.worker(&worker));
            let call = self.subject();
            // There is a runtime, because the call was sent on it.
            tokio::spawn(async move { client.publish(subject, call.to_string().into()).await });
        }
    }

    /// Unregisters a call that was not sent.
    pub(super) fn forget(mut self) {
        self.is_over = true;
        lock(&self.inbox.waiting).remove(&self.number);
    }
}

impl Drop for CallHandle {
    fn drop(&mut self) {
        if !self.is_over && tokio::runtime::Handle::try_current().is_ok() {
            self.cancel();
        }
    }
}

/// The task that reads replies.
struct ReplyReader {
    client: Client,
    space: Space,
    prefix: String,
    waiting: Arc<Mutex<PendingReplies>>,
    heartbeat_timeout: Duration,
}

impl ReplyReader {
    async fn read(self, mut subscriber: Subscriber) {
        let mut sweep = tokio::time::interval((self.heartbeat_timeout / 8).clamp(SWEEP.0, SWEEP.1));
        loop {
            tokio::select! {
                message = subscriber.next() => {
                    let Some(message) = message else { break };
                    self.take(message).await;
                    // Further messages that are ready do not need a timer check each.
                    for _ in 1..BATCH {
                        let Some(Some(message)) = subscriber.next().now_or_never() else { break };
                        self.take(message).await;
                    }
                }
                _ = sweep.tick() => self.sweep(self.heartbeat_timeout),
            }
        }
        // The connection was closed: fail all calls, and those that are still registered.
        loop {
            self.sweep(Duration::ZERO);
            sweep.tick().await;
        }
    }

    async fn take(&self, message: Message) {
        let Some(number) = message.subject.strip_prefix(&*self.prefix).and_then(|number| number.parse().ok()) else {
            return;
        };
        let answer = ReceivedReply::parse(message);
        let stopped = self.deliver(number, answer);
        if let Some(worker) = stopped {
            let call = format!("{}{number}", self.prefix);
            if let Err(error) = self.client.publish(self.space.worker(&worker), call.into()).await {
                tracing::debug!(%error, "cannot cancel a call");
            }
        }
    }

    /// Delivers a reply. Returns the worker if the call is to be cancelled and its worker has just become known.
    fn deliver(&self, number: u64, answer: ReceivedReply) -> Option<String> {
        let mut waiting = lock(&self.waiting);
        let entry = waiting.get_mut(&number)?;
        let end = match answer {
            ReceivedReply::NoWorkers => ReplyEnd::NoWorkers,
            ReceivedReply::Result(result) => ReplyEnd::Result(result),
            ReceivedReply::Part { number, count, payload } => {
                entry.last_heard = Instant::now();
                ReplyEnd::Result(entry.parts.take(number, count, payload)?)
            }
            ReceivedReply::Working(worker) => {
                entry.last_heard = Instant::now();
                let is_new = entry.worker.is_none();
                entry.worker = Some(worker);
                return (is_new && entry.is_cancelled).then(|| entry.worker.clone()).flatten();
            }
            ReceivedReply::Progress(progress) => {
                entry.last_heard = Instant::now();
                // A slow receiver misses reports and blocks nothing.
                let _ = entry.progress.as_ref().map(|listener| listener.try_send(progress));
                return None;
            }
        };
        let entry = waiting.remove(&number)?;
        drop(waiting);
        // The receiver may be gone.
        let _ = entry.end.send(end);
        None
    }

    /// Ends calls that were silent for this long.
    fn sweep(&self, heartbeat_timeout: Duration) {
        let now = Instant::now();
        let silence = |entry: &PendingReply| now.saturating_duration_since(entry.last_heard);
        end_matching(
            &self.waiting,
            |entry| silence(entry) >= heartbeat_timeout,
            |entry| ReplyEnd::Silent(silence(entry)),
        );
    }
}

/// Ends calls that the server denied.
async fn end_denied(waiting: Arc<Mutex<PendingReplies>>, mut violations: ViolationSubscription) {
    loop {
        let denied = violations.next().await;
        if let PermissionViolation::Publish(subject) = &denied {
            // A call that a worker has was permitted.
            let is_denied = |entry: &PendingReply| *entry.to == **subject && entry.worker.is_none();
            end_matching(&waiting, is_denied, |_| ReplyEnd::Denied(denied.to_string()));
        }
    }
}

fn end_matching(
    waiting: &Mutex<PendingReplies>,
    is_over: impl Fn(&PendingReply) -> bool,
    end: impl Fn(&PendingReply) -> ReplyEnd,
) {
    let over: Vec<PendingReply> = lock(waiting).extract_if(|_, entry| is_over(entry)).map(|(_, entry)| entry).collect();
    for entry in over {
        let end = end(&entry);
        // The receiver may be gone.
        let _ = entry.end.send(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_no_larger_than_documented() {
        // A table that has just grown has sixteen buckets for seven entries, and a control byte for each.
        let entry = (size_of::<(u64, PendingReply)>() + 1) * 16 / 7;
        // The value, and the state of the channel.
        let channel = size_of::<ReplyEnd>() + 64;
        assert!(entry + channel <= 600, "{entry} and {channel} bytes");
    }
}
