//! Where the answers to this program's calls arrive. There is one subscription for all of them: the last token of a
//! subject says which call it is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::{Client, Message, Subject, Subscriber};
use futures_util::{FutureExt, StreamExt};
use rustc_hash::FxHashMap;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::connection::{Denied, Following};
use crate::wire::{Answer, AnswerParts};
use crate::{Connection, Error, Space};

/// How often silent calls are looked for, at most and at least. One look at all of them costs less than a timer for each.
const SWEEP: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// How many messages are taken in one go.
const BATCH: usize = 64;

/// What ends a wait.
#[derive(Debug)]
pub(super) enum End {
    /// The server says that nobody listens: nothing has run.
    NobodyThere,
    Result(tool_runtime::ToolResult),
    /// The server does not let this user send the call, in words: nothing has run.
    Denied(String),
    /// Nothing was heard for so long.
    Silent(Duration),
}

/// Where answers arrive.
pub(super) struct Inbox {
    client: Client,
    space: Space,
    /// All subjects of this inbox begin with it.
    prefix: String,
    next: AtomicU64,
    waiting: Arc<Mutex<Waiting>>,
    _reading: DropGuard,
}

type Waiting = FxHashMap<u64, Entry>;

/// A call that was sent.
struct Entry {
    /// Where it was sent.
    to: Subject,
    end: oneshot::Sender<End>,
    progress: Option<mpsc::Sender<Value>>,
    heard: Instant,
    /// The worker that has it, once it has said so.
    worker: Option<String>,
    /// Whether it is to be stopped as soon as it is known where.
    stop: bool,
    parts: AnswerParts,
}

impl Inbox {
    pub(super) async fn open(connection: &Connection, space: Space, patience: Duration) -> Result<Self, Error> {
        let client = connection.client().clone();
        let prefix = format!("{}.", client.new_inbox());
        let subscriber = client.subscribe(format!("{prefix}*")).await.map_err(Error::nats("subscribe to answers"))?;
        let stop = CancellationToken::new();
        let reader = Reader {
            client: client.clone(),
            space: space.clone(),
            prefix: prefix.clone(),
            waiting: Arc::default(),
            patience,
        };
        let waiting = reader.waiting.clone();
        let denied = deny(waiting.clone(), connection.denials().follow());
        tokio::spawn(stop.clone().run_until_cancelled_owned(denied));
        tokio::spawn(stop.clone().run_until_cancelled_owned(reader.read(subscriber)));
        Ok(Self { client, space, prefix, next: AtomicU64::new(0), waiting, _reading: stop.drop_guard() })
    }

    /// A place for the answers to one call, which goes to this subject.
    pub(super) fn place(self: &Arc<Self>, to: &Subject, progress: Option<mpsc::Sender<Value>>) -> Place {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (end, ended) = oneshot::channel();
        let (to, heard) = (to.clone(), Instant::now());
        let entry = Entry { to, end, progress, heard, worker: None, stop: false, parts: AnswerParts::default() };
        lock(&self.waiting).insert(number, entry);
        Place { inbox: self.clone(), number, ended, is_over: false }
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place of one call. Dropped before the answer has come, it has the call stopped.
pub(super) struct Place {
    inbox: Arc<Inbox>,
    number: u64,
    ended: oneshot::Receiver<End>,
    is_over: bool,
}

impl Place {
    /// The subject to which answers go.
    pub(super) fn subject(&self) -> Subject {
        format!("{}{}", self.inbox.prefix, self.number).into()
    }

    /// Waits for the end. Can be cancelled without loss.
    pub(super) async fn end(&mut self) -> End {
        let end = (&mut self.ended).await;
        self.is_over = true;
        // The sender goes only with the inbox, which this holds.
        end.unwrap_or(End::Silent(Duration::ZERO))
    }

    /// Has the call stopped: now, or as soon as its worker is known.
    pub(super) fn stop(&self) {
        let worker = match lock(&self.inbox.waiting).get_mut(&self.number) {
            Some(entry) => {
                entry.stop = true;
                entry.worker.clone()
            }
            None => None,
        };
        if let Some(worker) = worker {
            let (client, subject) = (self.inbox.client.clone(), self.inbox.space.worker(&worker));
            let call = self.subject();
            // A runtime is there: the call was sent on it.
            tokio::spawn(async move { client.publish(subject, call.to_string().into()).await });
        }
    }

    /// Nothing was sent, so that nothing will come.
    pub(super) fn forget(mut self) {
        self.is_over = true;
        lock(&self.inbox.waiting).remove(&self.number);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_over && tokio::runtime::Handle::try_current().is_ok() {
            self.stop();
        }
    }
}

/// Reads what arrives.
struct Reader {
    client: Client,
    space: Space,
    prefix: String,
    waiting: Arc<Mutex<Waiting>>,
    patience: Duration,
}

impl Reader {
    async fn read(self, mut subscriber: Subscriber) {
        let mut sweep = tokio::time::interval((self.patience / 8).clamp(SWEEP.0, SWEEP.1));
        loop {
            tokio::select! {
                message = subscriber.next() => {
                    let Some(message) = message else { break };
                    self.take(message).await;
                    // Those that came with it are taken without a look at the clock for each.
                    for _ in 1..BATCH {
                        let Some(Some(message)) = subscriber.next().now_or_never() else { break };
                        self.take(message).await;
                    }
                }
                _ = sweep.tick() => self.sweep(self.patience),
            }
        }
        // The connection was closed: nothing will be heard of the calls that were sent, nor of those that still are.
        loop {
            self.sweep(Duration::ZERO);
            sweep.tick().await;
        }
    }

    async fn take(&self, message: Message) {
        let Some(number) = message.subject.strip_prefix(&*self.prefix).and_then(|number| number.parse().ok()) else {
            return;
        };
        let answer = Answer::read(message);
        let stopped = self.settle(number, answer);
        if let Some(worker) = stopped {
            let call = format!("{}{number}", self.prefix);
            if let Err(error) = self.client.publish(self.space.worker(&worker), call.into()).await {
                tracing::debug!(%error, "a call could not be stopped");
            }
        }
    }

    /// Hands an answer to whoever waits for it; a worker that is to stop the call, if it has just become known.
    fn settle(&self, number: u64, answer: Answer) -> Option<String> {
        let mut waiting = lock(&self.waiting);
        let entry = waiting.get_mut(&number)?;
        let end = match answer {
            Answer::NobodyThere => End::NobodyThere,
            Answer::Result(result) => End::Result(result),
            Answer::Part { number, count, payload } => {
                entry.heard = Instant::now();
                End::Result(entry.parts.take(number, count, payload)?)
            }
            Answer::Working(worker) => {
                entry.heard = Instant::now();
                let is_new = entry.worker.is_none();
                entry.worker = Some(worker);
                return (is_new && entry.stop).then(|| entry.worker.clone()).flatten();
            }
            Answer::Progress(progress) => {
                entry.heard = Instant::now();
                // A listener that is too slow misses reports, and holds up nobody.
                let _ = entry.progress.as_ref().map(|listener| listener.try_send(progress));
                return None;
            }
        };
        let entry = waiting.remove(&number)?;
        drop(waiting);
        // Whether somebody still waits does not matter.
        let _ = entry.end.send(end);
        None
    }

    /// Ends calls that nothing was heard of for so long.
    fn sweep(&self, patience: Duration) {
        let now = Instant::now();
        let silence = |entry: &Entry| now.saturating_duration_since(entry.heard);
        end_those(&self.waiting, |entry| silence(entry) >= patience, |entry| End::Silent(silence(entry)));
    }
}

/// Ends calls that the server does not take.
async fn deny(waiting: Arc<Mutex<Waiting>>, mut denials: Following) {
    loop {
        let denied = denials.next().await;
        if let Denied::Publish(subject) = &denied {
            // One that a worker has was taken before.
            let is_denied = |entry: &Entry| *entry.to == **subject && entry.worker.is_none();
            end_those(&waiting, is_denied, |_| End::Denied(denied.to_string()));
        }
    }
}

fn end_those(waiting: &Mutex<Waiting>, is_over: impl Fn(&Entry) -> bool, end: impl Fn(&Entry) -> End) {
    let over: Vec<Entry> = lock(waiting).extract_if(|_, entry| is_over(entry)).map(|(_, entry)| entry).collect();
    for entry in over {
        let end = end(&entry);
        // Whether somebody still waits does not matter.
        let _ = entry.end.send(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_as_large_as_the_page_on_scale_says() {
        // A table that has just grown has sixteen places for seven entries, and a byte beside each.
        let entry = (size_of::<(u64, Entry)>() + 1) * 16 / 7;
        // What it carries, and who waits at its ends.
        let channel = size_of::<End>() + 64;
        assert!(entry + channel <= 600, "{entry} and {channel} bytes");
    }
}
