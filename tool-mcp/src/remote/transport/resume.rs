//! How often a stream of events that broke is taken up again.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_core::stream::BoxStream;
use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use tokio::time::{Instant, sleep};

use super::unasked::Open;
use super::wire::Wire;
use crate::remote::backoff::STEADY;

/// How often it is tried before what the stream should have brought is given up.
const ATTEMPTS: usize = 3;
/// The pause after a stream that ended; after each failure it is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// The shortest pause, whatever a server says.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
/// How often a stream is taken up in a row without bringing anything, if it ends at another place each time. A server may
/// have us come back for its answer, but not for ever.
const IN_VAIN: usize = 1_000;
/// How many places are remembered; as many streams may be broken at once.
const REMEMBERED: usize = 256;

type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Takes a stream up again a few times. After that the server may be another, or gone: it is asked for its tools, which
/// shows it, and whoever waits for an answer of the stream is told. rmcp would go on for ever, and the call with it.
pub(super) struct Resume {
    wire: Arc<Wire>,
}

impl Resume {
    pub(super) fn new(wire: Arc<Wire>) -> Self {
        Self { wire }
    }
}

impl SseRetryPolicy for Resume {
    fn retry(&self, failures: usize) -> Option<Duration> {
        if failures < ATTEMPTS {
            return Some(PAUSE * (1 << failures));
        }
        self.wire.changed.notify_one();
        None
    }
}

impl fmt::Debug for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resume")
    }
}

/// The places where streams were taken up again, each behind the last event that was seen.
///
/// rmcp counts only what fails: a server that accepts each attempt, and ends the stream at once, would be asked for ever.
#[derive(Default)]
pub(super) struct Places {
    places: Mutex<VecDeque<Place>>,
    /// Ids may be long: what is remembered of them is a hash.
    hashes: RandomState,
}

struct Place {
    last_event: Option<u64>,
    attempts: usize,
    /// How often streams were taken up in a row that brought nothing, before this place was reached.
    in_vain: usize,
}

/// A stream that is taken up again.
pub(super) struct Attempt {
    /// How many there were in a row that brought nothing, this one included as long as it brings nothing.
    in_vain: usize,
    /// Where it was taken up, and when.
    place: Option<u64>,
    since: Instant,
}

impl Places {
    /// Pauses before a stream is taken up again; nothing if that has led nowhere too often.
    pub(super) async fn go_on(&self, last_event: Option<&str>) -> Option<Attempt> {
        let attempt = self.attempt(last_event);
        if last_event.is_some() || attempt.as_ref().is_none_or(|attempt| attempt.in_vain > 1) {
            sleep(SHORTEST_PAUSE).await;
        }
        attempt
    }

    fn places(&self) -> MutexGuard<'_, VecDeque<Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hash(&self, event: &str) -> u64 {
        self.hashes.hash_one(event)
    }

    fn attempt(&self, last_event: Option<&str>) -> Option<Attempt> {
        let place = last_event.map(|event| self.hash(event));
        let mut places = self.places();
        let known = places.iter_mut().find(|known| known.last_event == place);
        let in_vain = match known {
            Some(known) => {
                known.attempts += 1;
                if known.attempts > ATTEMPTS {
                    return None;
                }
                known.in_vain + known.attempts
            }
            None => {
                remember(&mut places, Place { last_event: place, attempts: 1, in_vain: 0 });
                1
            }
        };
        (in_vain <= IN_VAIN).then(|| Attempt { in_vain, place, since: Instant::now() })
    }

    /// Remembers where a stream ended, if that is somewhere else than where it was taken up. One that lived for long
    /// was well, since proxies end what is silent: all begins anew. The pause before the next one, which may be long at
    /// a server's wish, does not count.
    fn ended(&self, attempt: &Attempt, last_event: Option<u64>) {
        let mut places = self.places();
        if attempt.since.elapsed() >= STEADY {
            places.retain(|place| place.last_event != attempt.place);
        } else if last_event.is_some() && !places.iter().any(|place| place.last_event == last_event) {
            remember(&mut places, Place { last_event, attempts: 0, in_vain: attempt.in_vain });
        }
    }
}

fn remember(places: &mut VecDeque<Place>, place: Place) {
    if places.len() == REMEMBERED {
        places.pop_front();
    }
    places.push_back(place);
}

/// The events of a stream that was taken up again, watched for whether they bring anything.
pub(super) struct Watched {
    events: Events,
    places: Arc<Places>,
    attempt: Attempt,
    last_event: Option<u64>,
    _open: Arc<Open>,
}

impl Watched {
    pub(super) fn new(events: Events, places: Arc<Places>, attempt: Attempt, open: Arc<Open>) -> Self {
        Self { events, places, attempt, last_event: None, _open: open }
    }
}

impl Stream for Watched {
    type Item = Result<Sse, SseError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.events.as_mut().poll_next(context));
        match &event {
            Some(Ok(event)) => {
                if event.data.as_ref().is_some_and(|data| !data.is_empty()) {
                    self.attempt.in_vain = 0;
                }
                if let Some(id) = &event.id {
                    self.last_event = Some(self.places.hash(id));
                }
            }
            Some(Err(_)) | None => {
                let last_event = self.last_event.take();
                self.places.ended(&self.attempt, last_event);
            }
        }
        Poll::Ready(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_tried_a_few_times() {
        let places = Places::default();
        for expected in [true, true, true, false, false] {
            assert_eq!((places.attempt(Some("a")).is_some(), places.attempt(None).is_some()), (expected, expected));
        }
        for other in 0..1_000 {
            assert!(places.attempt(Some(&other.to_string())).is_some());
        }
        assert_eq!(places.places().len(), REMEMBERED);
    }

    /// Events that come at once.
    struct Given(VecDeque<Sse>);

    impl Stream for Given {
        type Item = Result<Sse, SseError>;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            Poll::Ready(self.0.pop_front().map(Ok))
        }
    }

    /// How often a stream is taken up whose server names another place each time, and has this to say there.
    fn taken_up(data: impl Fn(usize) -> &'static str) -> usize {
        let places = Arc::<Places>::default();
        let mut context = Context::from_waker(std::task::Waker::noop());
        let is_taken_up = |place: &usize| {
            let Some(attempt) = places.attempt(Some(&place.to_string())) else { return false };
            let event = Sse::default().id((place + 1).to_string()).data(data(*place));
            let mut stream = Watched::new(Box::pin(Given([event].into())), places.clone(), attempt, Arc::default());
            while let Poll::Ready(Some(_)) = Pin::new(&mut stream).poll_next(&mut context) {}
            true
        };
        (0..3 * IN_VAIN).take_while(is_taken_up).count()
    }

    /// A server may have us wait for longer than a stream has to live to be well.
    #[tokio::test(start_paused = true)]
    async fn what_counts_is_how_long_a_stream_lived() {
        let attempts = async |lived: Duration| {
            let places = Arc::<Places>::default();
            let mut attempts = 0;
            while attempts < 2 * ATTEMPTS
                && let Some(attempt) = places.attempt(Some("a"))
            {
                attempts += 1;
                let mut stream =
                    Watched::new(Box::pin(Given(VecDeque::new())), places.clone(), attempt, Arc::default());
                sleep(lived).await;
                let mut context = Context::from_waker(std::task::Waker::noop());
                assert!(matches!(Pin::new(&mut stream).poll_next(&mut context), Poll::Ready(None)));
                sleep(STEADY * 2).await;
            }
            attempts
        };
        assert_eq!(attempts(STEADY / 2).await, ATTEMPTS);
        assert_eq!(attempts(STEADY).await, 2 * ATTEMPTS, "the control was well");
    }

    #[test]
    fn a_stream_that_moves_on_in_vain_is_given_up() {
        assert_eq!(taken_up(|_| ""), IN_VAIN);
        let now_and_then = |place: usize| if place.is_multiple_of(IN_VAIN / 2) { "{}" } else { "" };
        assert_eq!(taken_up(now_and_then), 3 * IN_VAIN, "the control brings something");
    }

    #[tokio::test]
    async fn a_stream_that_stays_broken_puts_the_server_in_doubt() {
        let wire = Arc::<Wire>::default();
        let resume = Resume::new(wire.clone());
        let pauses: Vec<_> = (0..).map_while(|failures| resume.retry(failures)).map(|pause| pause.as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4]);
        wire.changed.notified().await;
    }
}
