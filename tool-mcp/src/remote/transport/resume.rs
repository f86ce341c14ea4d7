//! How often a stream of events that broke is taken up again.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use tokio::time::{Instant, sleep};

use super::wire::Wire;

/// How often it is tried before what the stream should have brought is given up.
const ATTEMPTS: usize = 3;
/// The pause after a stream that ended; after each failure it is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// The shortest pause, whatever a server says.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
/// A stream that lived this long was well: proxies end what is silent.
const STEADY: Duration = Duration::from_secs(10);
/// How many places are remembered; as many streams may be broken at once.
const REMEMBERED: usize = 256;

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

/// The places where streams were taken up again, each the last event that was seen.
///
/// rmcp counts only what fails: a server that accepts each attempt, and ends the stream at once, would be asked for ever.
#[derive(Default)]
pub(super) struct Places(Mutex<VecDeque<Place>>);

struct Place {
    last_event: Option<String>,
    attempts: usize,
    tried: Instant,
}

impl Places {
    /// Pauses before a stream is taken up again; false if that has led nowhere too often.
    pub(super) async fn may_go_on(&self, last_event: Option<&str>) -> bool {
        let attempts = self.attempts(last_event);
        if attempts > 1 || last_event.is_some() {
            sleep(SHORTEST_PAUSE).await;
        }
        attempts <= ATTEMPTS
    }

    /// How often it was tried here, now included.
    fn attempts(&self, last_event: Option<&str>) -> usize {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = Instant::now();
        places.retain(|place| tried - place.tried < STEADY);
        if let Some(place) = places.iter_mut().find(|place| place.last_event.as_deref() == last_event) {
            place.attempts += 1;
            place.tried = tried;
            return place.attempts;
        }
        if places.len() == REMEMBERED {
            places.pop_front();
        }
        places.push_back(Place { last_event: last_event.map(str::to_owned), attempts: 1, tried });
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_tried_a_few_times() {
        let places = Places::default();
        for expected in 1..=5 {
            assert_eq!((places.attempts(Some("a")), places.attempts(None)), (expected, expected));
        }
        for other in 0..1_000 {
            assert_eq!(places.attempts(Some(&other.to_string())), 1);
        }
        assert_eq!(places.0.lock().unwrap().len(), REMEMBERED);
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
