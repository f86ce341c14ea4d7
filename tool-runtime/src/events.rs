//! Events of calls: started, progress, pending, finished.
//!
//! [`Dispatcher::events`](crate::Dispatcher::events) returns the [`Events`] of a dispatcher. An interface or a log
//! [subscribes](Events::subscribe) to them and reads [`Update`]s. Subscribers never slow a call down: a subscriber that
//! falls behind loses events and receives their number.
//!
//! ```
//! use tool_runtime::events::{EventKind, Update};
//! use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let report = RuntimeTool::new("report.write", "Write a report.", |(): ()| async { "written" });
//! let tools = Dispatcher::builder().tool(report).build()?;
//! let mut subscriber = tools.events().subscribe();
//! tools.call(ToolCall::from_text("report.write", "{}")).await;
//!
//! let Some(Update::Event(event)) = subscriber.next().await else { panic!("no event was missed") };
//! assert_eq!(event.call.tool, "report.write");
//! assert!(matches!(event.kind, EventKind::Started { .. }));
//! let Some(Update::Event(event)) = subscriber.next().await else { panic!("no event was missed") };
//! assert!(matches!(event.kind, EventKind::Finished { success: true, .. }));
//!
//! drop(tools);
//! assert!(subscriber.next().await.is_none());
//! # Ok(())
//! # }
//! ```

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};
use serde_json::Value;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};

use crate::{ErrorKind, ToolCall};

/// An event of a call. Serializes to JSON for interfaces.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// The call.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// The time of the event; in JSON, milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub at: SystemTime,
    /// The kind of the event.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The call that an [`Event`] is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallInfo {
    /// The call id that the model provider assigned, if any.
    pub id: Option<String>,
    /// The name of the tool.
    pub tool: String,
    /// The conversation that the call belongs to, if it names one.
    pub conversation: Option<String>,
    /// A running number of observed calls, which tells calls without an id apart.
    pub sequence: u64,
}

/// The kind of an [`Event`], with its data.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The call started. Always the first event of a call.
    Started {
        /// The arguments, with secrets [redacted](crate::arguments::redact()). `null` if they are not valid JSON or if
        /// there is no such tool.
        arguments: Value,
    },
    /// The call needs an approval that comes later. Always the last event of a call: once approved, it runs as a call
    /// of its own.
    ///
    /// The sealed token is in the call's result and deliberately not here: its holder can run the call, and every
    /// subscriber reads events.
    Pending {
        /// The time after which the call can no longer be approved; in JSON, milliseconds since 1970.
        #[serde(serialize_with = "milliseconds")]
        expires: SystemTime,
    },
    /// The handler reported progress.
    Progress {
        /// The value that the handler reported.
        progress: Value,
    },
    /// The call returned or was dropped. Always the last event of a call.
    Finished {
        /// `true` if the call succeeded.
        success: bool,
        /// The kind of the failure, if it failed.
        kind: Option<ErrorKind>,
        /// The duration of the call; in JSON, `duration_ms`.
        #[serde(rename = "duration_ms", serialize_with = "duration_milliseconds")]
        duration: Duration,
    },
}

impl EventKind {
    /// Returns `true` if no event of the same call can follow.
    fn is_last(&self) -> bool {
        matches!(self, Self::Finished { .. } | Self::Pending { .. })
    }
}

fn shared<T: Serialize, S: Serializer>(value: &Arc<T>, serializer: S) -> Result<S::Ok, S::Error> {
    T::serialize(value, serializer)
}

fn milliseconds<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    duration_milliseconds(&time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(), serializer)
}

fn duration_milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// The events of all calls of a dispatcher. Clones share the same channel.
///
/// Without subscribers, a call pays one atomic load.
#[derive(Clone, Debug)]
pub struct Events {
    inner: Arc<EventChannel>,
}

#[derive(Debug)]
struct EventChannel {
    /// The number of subscribers. Kept beside the channel, whose own count takes a lock.
    subscribers: Arc<AtomicUsize>,
    /// Created for the first subscriber: most programs have none.
    sender: OnceLock<broadcast::Sender<Arc<Event>>>,
    capacity: usize,
    calls: AtomicU64,
}

impl Events {
    /// Creates a channel that buffers `capacity` events for a subscriber that falls behind, at least one.
    fn new(capacity: usize) -> Self {
        // The channel panics above this, rounded up to a power of two.
        let capacity = capacity.clamp(1, usize::MAX >> 2);
        let (subscribers, sender) = (Arc::default(), OnceLock::new());
        Self { inner: Arc::new(EventChannel { subscribers, sender, capacity, calls: AtomicU64::new(0) }) }
    }

    /// Subscribes to the calls that start from now on.
    #[must_use]
    pub fn subscribe(&self) -> Subscriber {
        let sender = self.inner.sender.get_or_init(|| broadcast::channel(self.inner.capacity).0);
        let receiver = sender.subscribe();
        self.inner.subscribers.fetch_add(1, Ordering::Release);
        Subscriber { receiver, subscribers: self.inner.subscribers.clone() }
    }

    /// Starts to observe a call, if there is a subscriber. A call that started unobserved stays so: no subscriber sees
    /// the end of a call without its start.
    #[cold]
    pub(crate) fn watch(&self, call: &ToolCall<'_>) -> Option<WatchedCall> {
        if !self.has_subscribers() {
            return None;
        }
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let call = CallInfo {
            id: owned(&call.id),
            tool: call.name.clone().into_owned(),
            conversation: owned(&call.conversation),
            sequence: self.inner.calls.fetch_add(1, Ordering::Relaxed),
        };
        Some(WatchedCall { call: Arc::new(call), is_over: Arc::default(), events: self.clone() })
    }

    /// Returns `true` if there is a subscriber. Every call asks, so it is one load.
    #[inline]
    pub(crate) fn has_subscribers(&self) -> bool {
        self.inner.subscribers.load(Ordering::Relaxed) != 0
    }
}

impl Default for Events {
    /// Creates a channel that buffers 1,024 events.
    fn default() -> Self {
        Self::new(1_024)
    }
}

/// A call whose events are sent to subscribers. Clones refer to the same call.
#[derive(Clone, Debug)]
pub(crate) struct WatchedCall {
    call: Arc<CallInfo>,
    /// Locked while an event is sent, so that no event follows the last one.
    is_over: Arc<Mutex<bool>>,
    events: Events,
}

impl WatchedCall {
    /// Sends an event, unless the call is over: a blocking handler cannot be stopped and may still report progress.
    pub(crate) fn send(&self, kind: EventKind) {
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_over {
            return;
        }
        *is_over = kind.is_last();
        if let Some(sender) = self.events.inner.sender.get() {
            let event = Event { call: self.call.clone(), at: SystemTime::now(), kind };
            // Sending fails only if the last subscriber is gone.
            let _ = sender.send(Arc::new(event));
        }
    }
}

/// An item that a [`Subscriber`] reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// An event of a call.
    Event(Arc<Event>),
    /// The number of events that were lost because the subscriber was too slow.
    Missed(u64),
}

/// A receiver of events. Dropping it unsubscribes.
#[derive(Debug)]
pub struct Subscriber {
    receiver: broadcast::Receiver<Arc<Event>>,
    subscribers: Arc<AtomicUsize>,
}

impl Subscriber {
    /// Waits for the next update. Returns `None` once the dispatcher and its calls are gone. Cancel safe.
    pub async fn next(&mut self) -> Option<Update> {
        match self.receiver.recv().await {
            Ok(event) => Some(Update::Event(event)),
            Err(RecvError::Lagged(missed)) => Some(Update::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    /// Returns the next update if it is already there.
    pub fn try_next(&mut self) -> Option<Update> {
        match self.receiver.try_recv() {
            Ok(event) => Some(Update::Event(event)),
            Err(TryRecvError::Lagged(missed)) => Some(Update::Missed(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.subscribers.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call() -> ToolCall<'static> {
        ToolCall::from_text("t", "{}").id("1").conversation("c")
    }

    fn progress(number: u64) -> EventKind {
        EventKind::Progress { progress: number.into() }
    }

    #[test]
    fn calls_without_a_subscriber_are_not_observed() {
        let events = Events::default();
        assert!(events.watch(&call()).is_none());
        assert!(events.inner.sender.get().is_none(), "nothing is allocated");
        let mut subscriber = events.subscribe();
        let watched = events.watch(&call()).unwrap();
        assert_eq!((watched.call.sequence, events.watch(&call()).unwrap().call.sequence), (0, 1));
        assert_eq!(subscriber.try_next(), None);
        drop(subscriber);
        assert!(events.watch(&call()).is_none());
        watched.send(progress(1));
    }

    #[test]
    fn every_subscriber_reads_all_events_in_order() {
        let events = Events::new(8);
        let mut subscribers = [events.subscribe(), events.subscribe()];
        let watched = events.watch(&call()).unwrap();
        for number in 0..5 {
            watched.send(progress(number));
        }
        for subscriber in &mut subscribers {
            for number in 0..5 {
                let Some(Update::Event(event)) = subscriber.try_next() else { panic!("an event is missing") };
                assert_eq!((&event.kind, &event.call), (&progress(number), &watched.call));
            }
            assert_eq!(subscriber.try_next(), None);
        }
    }

    #[test]
    fn a_slow_subscriber_learns_how_many_events_it_missed() {
        let events = Events::new(4);
        let mut slow = events.subscribe();
        let watched = events.watch(&call()).unwrap();
        for number in 0..100 {
            watched.send(progress(number));
        }
        // Four buffered events and `watched` itself hold the call.
        assert_eq!(Arc::strong_count(&watched.call), 5);
        assert_eq!(slow.try_next(), Some(Update::Missed(96)));
        let Some(Update::Event(event)) = slow.try_next() else { panic!("the newest events are buffered") };
        assert_eq!(event.kind, progress(96));
        drop((slow, event));
        assert_eq!(Arc::strong_count(&watched.call), 1, "a dropped subscriber frees its events");
    }

    #[test]
    fn no_event_follows_the_last_one() {
        let events = Events::new(8);
        let mut subscriber = events.subscribe();
        let watched = events.watch(&call()).unwrap();
        let late = watched.clone();
        watched.send(EventKind::Pending { expires: SystemTime::UNIX_EPOCH });
        late.send(progress(1));
        late.send(EventKind::Finished { success: true, kind: None, duration: Duration::ZERO });
        assert!(
            matches!(subscriber.try_next(), Some(Update::Event(event)) if event.kind == EventKind::Pending { expires: SystemTime::UNIX_EPOCH })
        );
        assert_eq!(subscriber.try_next(), None);
    }

    #[tokio::test]
    async fn a_subscription_ends_with_the_dispatcher() {
        let events = Events::default();
        let mut subscriber = events.subscribe();
        let watched = events.watch(&call()).unwrap();
        drop(events);
        watched.send(progress(1));
        drop(watched);
        assert!(matches!(subscriber.next().await, Some(Update::Event(_))));
        assert_eq!(subscriber.next().await, None);
    }

    #[test]
    fn events_serialize_to_json() {
        let call = CallInfo { id: None, tool: "t".into(), conversation: Some("c".into()), sequence: 7 };
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        let (kind, duration) = (Some(ErrorKind::Busy), Duration::from_millis(20));
        let event = Event { call: Arc::new(call), at, kind: EventKind::Finished { success: false, kind, duration } };
        let expected = json!({
            "call": {"id": null, "tool": "t", "conversation": "c", "sequence": 7}, "at": 1500,
            "event": "finished", "success": false, "kind": "busy", "duration_ms": 20
        });
        assert_eq!(serde_json::to_value(event).unwrap(), expected);
    }
}
