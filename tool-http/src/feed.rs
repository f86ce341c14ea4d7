//! The events of all calls, for clients that come, go and come back.
//!
//! What happens is kept in one ring, under numbers, and each client reads from it by a number of its own. One that is
//! slow and one that comes back are the same then: what they want is still there, or they are told that it is not.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use tokio::time::Instant;
use tool_runtime::Dispatcher;
use tool_runtime::events::{Event, Subscriber, Update};

/// How long calls are watched after the last client has gone, so that it can come back. Watched calls cost more.
const LINGERS: Duration = Duration::from_secs(60);

/// How many clients read at a time.
const MOST_READERS: usize = 1_000;

/// Something that clients are told.
#[derive(Clone)]
pub(crate) enum Told {
    Event(Arc<Event>),
    /// So many things are not there any more, or none can say how many.
    Missed(Option<u64>),
}

/// Where a reader stands: behind this entry of this ring. As text, `ring-entry`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    ring: u64,
    entry: u64,
}

impl Place {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (ring, entry) = text.split_once('-')?;
        Some(Self { ring: u64::from_str_radix(ring, 16).ok()?, entry: entry.parse().ok()? })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}-{}", self.ring, self.entry)
    }
}

pub(crate) struct Feed {
    tools: Dispatcher,
    kept: usize,
    state: Mutex<State>,
    /// The number of the newest entry.
    newest: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    /// Tells this ring from that of another time; nothing while nobody watches.
    ring: Option<u64>,
    entries: VecDeque<Told>,
    newest: u64,
    readers: usize,
    idle_since: Option<Instant>,
}

impl State {
    /// The number of the oldest entry.
    fn oldest(&self) -> u64 {
        self.newest + 1 - self.entries.len() as u64
    }
}

impl Feed {
    pub(crate) fn new(tools: Dispatcher, kept: usize) -> Arc<Self> {
        Arc::new(Self { tools, kept: kept.max(1), state: Mutex::default(), newest: watch::Sender::new(0) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads on behind a place, or what comes from now on. Nothing, if too many read already.
    pub(crate) fn read(self: &Arc<Self>, behind: Option<Place>) -> Option<Reader> {
        let mut state = self.state();
        if state.readers >= MOST_READERS {
            return None;
        }
        state.readers += 1;
        state.idle_since = None;
        let ring = *state.ring.get_or_insert_with(|| {
            tokio::spawn(keep(Arc::downgrade(self), self.tools.events().subscribe()));
            now()
        });
        let at = match behind {
            Some(place) if place.ring == ring && place.entry <= state.newest => place,
            _ => Place { ring, entry: state.newest },
        };
        let lost = behind.is_some_and(|place| place != at);
        drop(state);
        Some(Reader { feed: self.clone(), at, lost, changed: self.newest.subscribe() })
    }

    fn add(&self, told: Told) {
        let mut state = self.state();
        if state.entries.len() == self.kept {
            state.entries.pop_front();
        }
        state.entries.push_back(told);
        state.newest += 1;
        self.newest.send_replace(state.newest);
    }

    /// Forgets everything if nobody has read for long. Whether it did.
    fn rest(&self) -> bool {
        let mut state = self.state();
        let is_idle = state.readers == 0 && state.idle_since.is_some_and(|since| since.elapsed() >= LINGERS);
        if is_idle {
            *state = State::default();
            self.newest.send_replace(0);
        }
        is_idle
    }
}

/// Keeps what happens, until nobody wants it any more.
async fn keep(feed: Weak<Feed>, mut subscriber: Subscriber) {
    loop {
        let told = match tokio::time::timeout(LINGERS, subscriber.next()).await {
            Ok(Some(Update::Event(event))) => Some(Told::Event(event)),
            Ok(Some(Update::Missed(count))) => Some(Told::Missed(Some(count))),
            Ok(None) => return,
            Err(_) => None,
        };
        let Some(feed) = feed.upgrade() else { return };
        if let Some(told) = told {
            feed.add(told);
        }
        if feed.rest() {
            return;
        }
    }
}

/// No two rings have it, of this process or of the one before.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or_default()
}

/// Reads a feed. Dropped, it reads no more.
pub(crate) struct Reader {
    feed: Arc<Feed>,
    at: Place,
    /// Whether what it wanted to read on from is of another ring.
    lost: bool,
    changed: watch::Receiver<u64>,
}

impl Reader {
    /// Where it stands.
    pub(crate) fn place(&self) -> Place {
        self.at
    }

    /// What comes next, with the place behind it. Can be cancelled without loss.
    pub(crate) async fn next(&mut self) -> Option<(Place, Told)> {
        if std::mem::take(&mut self.lost) {
            return Some((self.at, Told::Missed(None)));
        }
        loop {
            self.changed.borrow_and_update();
            if let Some(next) = self.next_kept() {
                return Some(next);
            }
            self.changed.changed().await.ok()?;
        }
    }

    /// Returns what comes next, with the place behind it, if it is there already.
    pub(crate) fn next_kept(&mut self) -> Option<(Place, Told)> {
        let state = self.feed.state();
        let (wanted, oldest) = (self.at.entry + 1, state.oldest());
        if wanted < oldest {
            self.at.entry = oldest - 1;
            return Some((self.at, Told::Missed(Some(oldest - wanted))));
        }
        let told = state.entries.get(usize::try_from(wanted - oldest).ok()?)?.clone();
        self.at.entry = wanted;
        Some((self.at, told))
    }
}

impl Drop for Reader {
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
    async fn calls_are_watched_while_somebody_reads_and_not_for_ever() {
        let tools = Dispatcher::builder().build().unwrap();
        let feed = Feed::new(tools, 4);
        assert!(feed.state().ring.is_none(), "nobody has read yet");
        let reader = feed.read(None).unwrap();
        let place = reader.place();
        assert!(!feed.rest(), "somebody reads");
        drop(reader);
        assert!(!feed.rest(), "they may come back");
        assert_eq!(feed.read(Some(place)).unwrap().place(), place);

        feed.state().idle_since = Instant::now().checked_sub(LINGERS);
        assert!(feed.rest(), "they did not");
        let mut late = feed.read(Some(place)).unwrap();
        assert_ne!(late.place(), place);
        assert!(matches!(late.next().await, Some((_, Told::Missed(None)))), "and are told so when they do");
    }

    #[tokio::test]
    async fn no_more_read_than_there_is_room_for() {
        let feed = Feed::new(Dispatcher::builder().build().unwrap(), 4);
        let mut readers: Vec<_> = (0..MOST_READERS).filter_map(|_| feed.read(None)).collect();
        assert_eq!(readers.len(), MOST_READERS);
        assert!(feed.read(None).is_none());
        readers.pop();
        assert!(feed.read(None).is_some());
    }

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let place = Place { ring: 0xabc, entry: 17 };
        assert_eq!(Place::read(&place.to_string()), Some(place));
    }
}
