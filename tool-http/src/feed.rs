//! A ring buffer with the events of all calls, for clients that disconnect and reconnect.
//!
//! Entries are numbered and each reader has its own position. A slow client and one that reconnects are the same case:
//! the next entry is still in the buffer, or the reader reports how many it missed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use tokio::time::Instant;
use tool_runtime::Dispatcher;
use tool_runtime::events::{Event, Subscriber, Update};

/// Time for which events are collected after the last reader has gone, so that a client can reconnect. Calls are slower
/// while events are collected.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum number of concurrent readers.
const MAX_READERS: usize = 1_000;

/// An entry of the feed.
#[derive(Clone)]
pub(crate) enum FeedEntry {
    Event(Arc<Event>),
    /// The number of events that were lost; `None` if it is unknown.
    Missed(Option<u64>),
}

/// The position of a reader: after this entry of this ring. Its text form, `ring-entry`, is the id of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FeedPosition {
    ring: u64,
    entry: u64,
}

impl FeedPosition {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (ring, entry) = text.split_once('-')?;
        Some(Self { ring: u64::from_str_radix(ring, 16).ok()?, entry: entry.parse().ok()? })
    }
}

impl std::fmt::Display for FeedPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}-{}", self.ring, self.entry)
    }
}

/// The events of a dispatcher's calls. Collects them only while it has readers.
pub(crate) struct Feed {
    tools: Dispatcher,
    capacity: usize,
    state: Mutex<FeedState>,
    /// The number of the newest entry.
    newest: watch::Sender<u64>,
}

#[derive(Default)]
struct FeedState {
    /// The id of the current ring; `None` while no events are collected.
    ring: Option<u64>,
    entries: VecDeque<FeedEntry>,
    newest: u64,
    readers: usize,
    idle_since: Option<Instant>,
}

impl FeedState {
    /// The number of the oldest entry.
    fn oldest(&self) -> u64 {
        self.newest + 1 - self.entries.len() as u64
    }
}

impl Feed {
    pub(crate) fn new(tools: Dispatcher, capacity: usize) -> Arc<Self> {
        Arc::new(Self { tools, capacity: capacity.max(1), state: Mutex::default(), newest: watch::Sender::new(0) })
    }

    fn state(&self) -> MutexGuard<'_, FeedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a reader that continues after a position, or starts with the next event. Returns `None` if there are
    /// too many readers.
    pub(crate) fn reader(self: &Arc<Self>, after: Option<FeedPosition>) -> Option<FeedReader> {
        let mut state = self.state();
        if state.readers >= MAX_READERS {
            return None;
        }
        state.readers += 1;
        state.idle_since = None;
        let ring = *state.ring.get_or_insert_with(|| {
            tokio::spawn(collect(Arc::downgrade(self), self.tools.events().subscribe()));
            new_ring_id()
        });
        let at = match after {
            Some(position) if position.ring == ring && position.entry <= state.newest => position,
            _ => FeedPosition { ring, entry: state.newest },
        };
        let lost = after.is_some_and(|position| position != at);
        drop(state);
        Some(FeedReader { feed: self.clone(), at, lost, changed: self.newest.subscribe() })
    }

    fn add(&self, entry: FeedEntry) {
        let mut state = self.state();
        if state.entries.len() == self.capacity {
            state.entries.pop_front();
        }
        state.entries.push_back(entry);
        state.newest += 1;
        self.newest.send_replace(state.newest);
    }

    /// Clears the feed if it had no readers for [`IDLE_TIMEOUT`]. Returns `true` if it did.
    fn clear_if_idle(&self) -> bool {
        let mut state = self.state();
        let is_idle = state.readers == 0 && state.idle_since.is_some_and(|since| since.elapsed() >= IDLE_TIMEOUT);
        if is_idle {
            *state = FeedState::default();
            self.newest.send_replace(0);
        }
        is_idle
    }
}

/// Collects events until the feed is idle or dropped.
async fn collect(feed: Weak<Feed>, mut subscriber: Subscriber) {
    loop {
        let entry = match tokio::time::timeout(IDLE_TIMEOUT, subscriber.next()).await {
            Ok(Some(Update::Event(event))) => Some(FeedEntry::Event(event)),
            Ok(Some(Update::Missed(count))) => Some(FeedEntry::Missed(Some(count))),
            Ok(None) => return,
            Err(_) => None,
        };
        let Some(feed) = feed.upgrade() else { return };
        if let Some(entry) = entry {
            feed.add(entry);
        }
        if feed.clear_if_idle() {
            return;
        }
    }
}

/// Returns the current time in nanoseconds as an id that no earlier ring has, in this process or a previous one.
fn new_ring_id() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or_default()
}

/// A reader of a [`Feed`], registered until it is dropped.
pub(crate) struct FeedReader {
    feed: Arc<Feed>,
    at: FeedPosition,
    /// The requested position does not exist in this ring.
    lost: bool,
    changed: watch::Receiver<u64>,
}

impl FeedReader {
    pub(crate) fn position(&self) -> FeedPosition {
        self.at
    }

    /// Waits for the next entry and returns it with the position after it. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<(FeedPosition, FeedEntry)> {
        if std::mem::take(&mut self.lost) {
            return Some((self.at, FeedEntry::Missed(None)));
        }
        loop {
            self.changed.borrow_and_update();
            if let Some(next) = self.try_next() {
                return Some(next);
            }
            self.changed.changed().await.ok()?;
        }
    }

    /// Returns the next entry with the position after it, if there is one already.
    pub(crate) fn try_next(&mut self) -> Option<(FeedPosition, FeedEntry)> {
        let state = self.feed.state();
        let (wanted, oldest) = (self.at.entry + 1, state.oldest());
        if wanted < oldest {
            self.at.entry = oldest - 1;
            return Some((self.at, FeedEntry::Missed(Some(oldest - wanted))));
        }
        let entry = state.entries.get(usize::try_from(wanted - oldest).ok()?)?.clone();
        self.at.entry = wanted;
        Some((self.at, entry))
    }
}

impl Drop for FeedReader {
    fn drop(&mut self) {
        let mut state = self.feed.state();
        state.readers -= 1;
        if state.readers == 0 {
            state.idle_since = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_are_collected_until_the_feed_has_been_idle() {
        let tools = Dispatcher::builder().allow_empty().build().unwrap();
        let feed = Feed::new(tools, 4);
        assert!(feed.state().ring.is_none(), "there was no reader yet");
        let reader = feed.reader(None).unwrap();
        let position = reader.position();
        assert!(!feed.clear_if_idle(), "there is a reader");
        drop(reader);
        assert!(!feed.clear_if_idle(), "the client may reconnect");
        assert_eq!(feed.reader(Some(position)).unwrap().position(), position);

        feed.state().idle_since = Instant::now().checked_sub(IDLE_TIMEOUT);
        assert!(feed.clear_if_idle(), "the timeout has passed");
        let mut late = feed.reader(Some(position)).unwrap();
        assert_ne!(late.position(), position);
        assert!(
            matches!(late.next().await, Some((_, FeedEntry::Missed(None)))),
            "a late client learns that events were lost"
        );
    }

    #[tokio::test]
    async fn limits_the_number_of_readers() {
        let feed = Feed::new(Dispatcher::builder().allow_empty().build().unwrap(), 4);
        let mut readers: Vec<_> = (0..MAX_READERS).filter_map(|_| feed.reader(None)).collect();
        assert_eq!(readers.len(), MAX_READERS);
        assert!(feed.reader(None).is_none());
        readers.pop();
        assert!(feed.reader(None).is_some());
    }

    #[test]
    fn a_position_round_trips_through_text() {
        let position = FeedPosition { ring: 0xabc, entry: 17 };
        assert_eq!(FeedPosition::parse(&position.to_string()), Some(position));
    }
}
