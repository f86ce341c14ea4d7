//! What happens to calls, for whoever wants to watch.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};
use serde_json::Value;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};

use crate::{ErrorKind, ToolCall};

/// Something that happened to a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// The call.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// When; in JSON, milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub at: SystemTime,
    /// What.
    #[serde(flatten)]
    pub what: EventKind,
}

/// Which call it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallInfo {
    /// The id that the provider gave the call, if any.
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The conversation, if the call says one.
    pub conversation: Option<String>,
    /// Counts the calls that are watched: tells those apart that have no id.
    pub sequence: u64,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The call begins. Nothing comes before it.
    Started {
        /// The arguments, without their secrets; see [`redact`](crate::arguments::redact()). `null` if they are no JSON, or if
        /// there is no such tool.
        arguments: Value,
    },
    /// The call has answered that somebody has to agree first. Nothing comes after it; if they agree, what runs then
    /// is a call of its own. The token with which they do is in the call's result, and not here: whoever has it can have
    /// the call run, and everybody can watch.
    Pending {
        /// When it is too late to agree; in JSON, milliseconds since 1970.
        #[serde(serialize_with = "milliseconds")]
        expires: SystemTime,
    },
    /// The handler says how far it is.
    Progress {
        /// In its own form.
        progress: Value,
    },
    /// The call has answered, or was dropped. Nothing comes after it.
    Finished {
        /// Whether it went well.
        success: bool,
        /// What kind of failure it was, if one.
        kind: Option<ErrorKind>,
        /// How long it took; in JSON, `duration_ms`.
        #[serde(rename = "duration_ms", serialize_with = "duration_milliseconds")]
        duration: Duration,
    },
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

/// The events of all calls of a dispatcher. Clones are of the same calls.
///
/// Nobody who watches can slow a call down: what a subscriber does not read in time is lost to it, and it is told how
/// much. While nobody watches, a call costs one look at a number.
///
/// ```
/// use tool_runtime::events::{EventKind, Update};
/// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = RuntimeTool::new("report.write", "Write a report.", |(): ()| async { "written" });
/// let tools = Dispatcher::builder().tool(report).build()?;
/// let mut subscriber = tools.events().subscribe();
/// tools.call(ToolCall::from_text("report.write", "{}")).await;
///
/// let Some(Update::Event(event)) = subscriber.next().await else { panic!("nothing was missed") };
/// assert_eq!(event.call.tool, "report.write");
/// assert!(matches!(event.what, EventKind::Started { .. }));
/// let Some(Update::Event(event)) = subscriber.next().await else { panic!("nothing was missed") };
/// assert!(matches!(event.what, EventKind::Finished { success: true, .. }));
///
/// drop(tools);
/// assert!(subscriber.next().await.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Events {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Beside the channel, since asking that costs a lock.
    listeners: Arc<AtomicUsize>,
    /// Made for the first subscriber: most programs have none.
    channel: OnceLock<broadcast::Sender<Arc<Event>>>,
    capacity: usize,
    calls: AtomicU64,
}

impl Events {
    /// Keeps so many events for a subscriber that is behind, at least one.
    fn new(capacity: usize) -> Self {
        // More than this, rounded up to a power of two, the channel refuses.
        let capacity = capacity.clamp(1, usize::MAX >> 2);
        let inner = Inner { listeners: Arc::default(), channel: OnceLock::new(), capacity, calls: AtomicU64::new(0) };
        Self { inner: Arc::new(inner) }
    }

    /// Watches the calls that begin from now on.
    #[must_use]
    pub fn subscribe(&self) -> Subscriber {
        let channel = self.inner.channel.get_or_init(|| broadcast::channel(self.inner.capacity).0);
        let receiver = channel.subscribe();
        self.inner.listeners.fetch_add(1, Ordering::Release);
        Subscriber { receiver, listeners: self.inner.listeners.clone() }
    }

    /// Begins to tell of a call, if somebody watches. One that began unwatched stays so: nobody sees the end of a
    /// call without its beginning.
    #[inline]
    pub(crate) fn watch(&self, call: &ToolCall<'_>) -> Option<WatchedCall> {
        if self.inner.listeners.load(Ordering::Relaxed) == 0 {
            return None;
        }
        Some(self.watched(call))
    }

    #[cold]
    fn watched(&self, call: &ToolCall<'_>) -> WatchedCall {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let call = CallInfo {
            id: owned(&call.id),
            tool: call.name.clone().into_owned(),
            conversation: owned(&call.conversation),
            sequence: self.inner.calls.fetch_add(1, Ordering::Relaxed),
        };
        WatchedCall { call: Arc::new(call), is_over: Arc::default(), events: self.clone() }
    }
}

impl Default for Events {
    /// Keeps 1,024 events.
    fn default() -> Self {
        Self::new(1_024)
    }
}

/// A call that is watched. Clones are of the same call.
#[derive(Clone, Debug)]
pub(crate) struct WatchedCall {
    call: Arc<CallInfo>,
    /// Held while an event is sent, so that none slips in behind the last one.
    is_over: Arc<Mutex<bool>>,
    events: Events,
}

impl WatchedCall {
    /// Tells everybody what happened. After [`EventKind::Finished`] or [`EventKind::Pending`] nothing is told any more: a
    /// handler that cannot be stopped may go on to report.
    pub(crate) fn send(&self, what: EventKind) {
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_over {
            return;
        }
        *is_over = matches!(what, EventKind::Finished { .. } | EventKind::Pending { .. });
        if let Some(channel) = self.events.inner.channel.get() {
            let event = Event { call: self.call.clone(), at: SystemTime::now(), what };
            // That nobody listens any more is no failure.
            let _ = channel.send(Arc::new(event));
        }
    }
}

/// What a subscriber is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// Something happened.
    Event(Arc<Event>),
    /// So many events are lost: the subscriber was too slow.
    Missed(u64),
}

/// Reads events. Dropped, it watches no more.
#[derive(Debug)]
pub struct Subscriber {
    receiver: broadcast::Receiver<Arc<Event>>,
    listeners: Arc<AtomicUsize>,
}

impl Subscriber {
    /// What comes next; nothing once all that could tell of calls is gone. Can be cancelled without loss.
    pub async fn next(&mut self) -> Option<Update> {
        match self.receiver.recv().await {
            Ok(event) => Some(Update::Event(event)),
            Err(RecvError::Lagged(missed)) => Some(Update::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    /// What has come already.
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
        self.listeners.fetch_sub(1, Ordering::Release);
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
    fn unwatched_calls_stay_unwatched() {
        let events = Events::default();
        assert!(events.watch(&call()).is_none());
        assert!(events.inner.channel.get().is_none(), "nothing is allocated");
        let mut subscriber = events.subscribe();
        let watched = events.watch(&call()).unwrap();
        assert_eq!((watched.call.sequence, events.watch(&call()).unwrap().call.sequence), (0, 1));
        assert_eq!(subscriber.try_next(), None);
        drop(subscriber);
        assert!(events.watch(&call()).is_none());
        watched.send(progress(1));
    }

    #[test]
    fn everybody_is_told_in_order() {
        let events = Events::new(8);
        let mut subscribers = [events.subscribe(), events.subscribe()];
        let watched = events.watch(&call()).unwrap();
        for number in 0..5 {
            watched.send(progress(number));
        }
        for subscriber in &mut subscribers {
            for number in 0..5 {
                let Some(Update::Event(event)) = subscriber.try_next() else { panic!("one is missing") };
                assert_eq!((&event.what, &event.call), (&progress(number), &watched.call));
            }
            assert_eq!(subscriber.try_next(), None);
        }
    }

    #[test]
    fn a_slow_subscriber_is_told_how_much_it_missed_and_keeps_no_more_than_fits() {
        let events = Events::new(4);
        let mut slow = events.subscribe();
        let watched = events.watch(&call()).unwrap();
        for number in 0..100 {
            watched.send(progress(number));
        }
        // Each event holds on to its call: four events, and `watched` itself.
        assert_eq!(Arc::strong_count(&watched.call), 5);
        assert_eq!(slow.try_next(), Some(Update::Missed(96)));
        let Some(Update::Event(event)) = slow.try_next() else { panic!("the newest are there") };
        assert_eq!(event.what, progress(96));
        drop((slow, event));
        assert_eq!(Arc::strong_count(&watched.call), 1, "one that is gone keeps nothing");
    }

    #[test]
    fn nothing_comes_after_the_end() {
        let events = Events::new(8);
        let mut subscriber = events.subscribe();
        let watched = events.watch(&call()).unwrap();
        let late = watched.clone();
        watched.send(EventKind::Pending { expires: SystemTime::UNIX_EPOCH });
        late.send(progress(1));
        late.send(EventKind::Finished { success: true, kind: None, duration: Duration::ZERO });
        assert!(
            matches!(subscriber.try_next(), Some(Update::Event(event)) if event.what == EventKind::Pending { expires: SystemTime::UNIX_EPOCH })
        );
        assert_eq!(subscriber.try_next(), None);
    }

    #[tokio::test]
    async fn the_stream_ends_with_the_dispatcher() {
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
    fn an_event_is_json_for_an_interface() {
        let call = CallInfo { id: None, tool: "t".into(), conversation: Some("c".into()), sequence: 7 };
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        let (kind, duration) = (Some(ErrorKind::Busy), Duration::from_millis(20));
        let event = Event { call: Arc::new(call), at, what: EventKind::Finished { success: false, kind, duration } };
        let expected = json!({
            "call": {"id": null, "tool": "t", "conversation": "c", "sequence": 7}, "at": 1500,
            "event": "finished", "success": false, "kind": "busy", "duration_ms": 20
        });
        assert_eq!(serde_json::to_value(event).unwrap(), expected);
    }
}
