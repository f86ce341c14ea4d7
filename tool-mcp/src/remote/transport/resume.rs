//! Limits on resuming broken event streams.

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

use super::monitor::ConnectionMonitor;
use super::server_stream::OpenStream;
use crate::remote::backoff::STEADY;

/// The number of attempts to resume a stream at one event.
const ATTEMPTS: usize = 3;
/// The pause after a stream that ended; it doubles after each failure.
const PAUSE: Duration = Duration::from_secs(1);
/// The minimum pause, whatever the server requests.
const MIN_PAUSE: Duration = Duration::from_millis(100);
/// The most consecutive streams without a message, if each ends at another event. A server may let a client poll for its
/// response, but not forever.
const MAX_EMPTY: usize = 1_000;
/// The number of remembered resume points; as many streams may be broken at once.
const REMEMBERED: usize = 256;

type SseEvents = BoxStream<'static, Result<Sse, SseError>>;

/// Resumes a stream a limited number of times. Then the pending requests of the stream fail, and the tools are listed, which
/// shows whether the server is still there. By default rmcp, and the call with it, would retry forever.
pub(super) struct StreamRetryPolicy {
    monitor: Arc<ConnectionMonitor>,
}

impl StreamRetryPolicy {
    pub(super) fn new(monitor: Arc<ConnectionMonitor>) -> Self {
        Self { monitor }
    }
}

impl SseRetryPolicy for StreamRetryPolicy {
    fn retry(&self, failures: usize) -> Option<Duration> {
        if failures < ATTEMPTS {
            return Some(PAUSE * (1 << failures));
        }
        self.monitor.tools_changed.notify_one();
        None
    }
}

impl fmt::Debug for StreamRetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamRetryPolicy")
    }
}

/// The events after which streams were resumed.
///
/// rmcp counts only failures: it would never give up on a server that accepts each attempt and ends the stream at once.
#[derive(Default)]
pub(super) struct ResumePoints {
    points: Mutex<VecDeque<ResumePoint>>,
    /// Event ids may be long, so only their hashes are stored.
    hashes: RandomState,
}

struct ResumePoint {
    last_event: Option<u64>,
    attempts: usize,
    /// The number of consecutive empty streams before this point was reached.
    empty: usize,
}

/// An attempt to resume a stream.
pub(super) struct ResumeAttempt {
    /// The number of consecutive empty streams, including this one while it is empty.
    empty: usize,
    /// The event after which the stream was resumed.
    last_event: Option<u64>,
    since: Instant,
}

impl ResumePoints {
    /// Pauses before a stream is resumed. Returns `None` if too many attempts were fruitless.
    pub(super) async fn next_attempt(&self, last_event: Option<&str>) -> Option<ResumeAttempt> {
        let attempt = self.attempt(last_event);
        if last_event.is_some() || attempt.as_ref().is_none_or(|attempt| attempt.empty > 1) {
            sleep(MIN_PAUSE).await;
        }
        attempt
    }

    fn points(&self) -> MutexGuard<'_, VecDeque<ResumePoint>> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hash(&self, event: &str) -> u64 {
        self.hashes.hash_one(event)
    }

    fn attempt(&self, last_event: Option<&str>) -> Option<ResumeAttempt> {
        let last_event = last_event.map(|event| self.hash(event));
        let mut points = self.points();
        let known = points.iter_mut().find(|known| known.last_event == last_event);
        let empty = match known {
            Some(known) => {
                known.attempts += 1;
                if known.attempts > ATTEMPTS {
                    return None;
                }
                known.empty + known.attempts
            }
            None => {
                remember(&mut points, ResumePoint { last_event, attempts: 1, empty: 0 });
                1
            }
        };
        (empty <= MAX_EMPTY).then(|| ResumeAttempt { empty, last_event, since: Instant::now() })
    }

    /// Remembers the last event of a stream that ended. A stream that lived long was healthy, since proxies end silent
    /// streams, so its counters are reset. Only the stream's own lifetime counts: the pause before the next one may be
    /// long if the server requests it.
    fn ended(&self, attempt: &ResumeAttempt, last_event: Option<u64>) {
        let mut points = self.points();
        if attempt.since.elapsed() >= STEADY {
            points.retain(|point| point.last_event != attempt.last_event);
        } else if last_event.is_some() && !points.iter().any(|point| point.last_event == last_event) {
            remember(&mut points, ResumePoint { last_event, attempts: 0, empty: attempt.empty });
        }
    }
}

fn remember(points: &mut VecDeque<ResumePoint>, point: ResumePoint) {
    if points.len() == REMEMBERED {
        points.pop_front();
    }
    points.push_back(point);
}

/// A resumed event stream.
pub(super) struct ResumedStream {
    events: SseEvents,
    points: Arc<ResumePoints>,
    attempt: ResumeAttempt,
    last_event: Option<u64>,
    _open: Arc<OpenStream>,
}

impl ResumedStream {
    pub(super) fn new(
        events: SseEvents,
        points: Arc<ResumePoints>,
        attempt: ResumeAttempt,
        open: Arc<OpenStream>,
    ) -> Self {
        Self { events, points, attempt, last_event: None, _open: open }
    }
}

impl Stream for ResumedStream {
    type Item = Result<Sse, SseError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.events.as_mut().poll_next(context));
        match &event {
            Some(Ok(event)) => {
                if event.data.as_ref().is_some_and(|data| !data.is_empty()) {
                    self.attempt.empty = 0;
                }
                if let Some(id) = &event.id {
                    self.last_event = Some(self.points.hash(id));
                }
            }
            Some(Err(_)) | None => {
                let last_event = self.last_event.take();
                self.points.ended(&self.attempt, last_event);
            }
        }
        Poll::Ready(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_the_attempts_per_resume_point() {
        let points = ResumePoints::default();
        for expected in [true, true, true, false, false] {
            assert_eq!((points.attempt(Some("a")).is_some(), points.attempt(None).is_some()), (expected, expected));
        }
        for other in 0..1_000 {
            assert!(points.attempt(Some(&other.to_string())).is_some());
        }
        assert_eq!(points.points().len(), REMEMBERED);
    }

    /// Events that are available at once.
    struct FakeEvents(VecDeque<Sse>);

    impl Stream for FakeEvents {
        type Item = Result<Sse, SseError>;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            Poll::Ready(self.0.pop_front().map(Ok))
        }
    }

    /// Counts how often a stream is resumed whose event id is another one each time, with this data.
    fn resumptions(data: impl Fn(usize) -> &'static str) -> usize {
        let points = Arc::<ResumePoints>::default();
        let mut context = Context::from_waker(std::task::Waker::noop());
        let is_resumed = |event: &usize| {
            let Some(attempt) = points.attempt(Some(&event.to_string())) else { return false };
            let next = Sse::default().id((event + 1).to_string()).data(data(*event));
            let events = Box::pin(FakeEvents([next].into()));
            let mut stream = ResumedStream::new(events, points.clone(), attempt, Arc::default());
            while let Poll::Ready(Some(_)) = Pin::new(&mut stream).poll_next(&mut context) {}
            true
        };
        (0..3 * MAX_EMPTY).take_while(is_resumed).count()
    }

    /// The pause that a server requests may be longer than the lifetime of a healthy stream.
    #[tokio::test(start_paused = true)]
    async fn counts_only_the_lifetime_of_a_stream() {
        let attempts = async |lived: Duration| {
            let points = Arc::<ResumePoints>::default();
            let mut attempts = 0;
            while attempts < 2 * ATTEMPTS
                && let Some(attempt) = points.attempt(Some("a"))
            {
                attempts += 1;
                let events = Box::pin(FakeEvents(VecDeque::new()));
                let mut stream = ResumedStream::new(events, points.clone(), attempt, Arc::default());
                sleep(lived).await;
                let mut context = Context::from_waker(std::task::Waker::noop());
                assert!(matches!(Pin::new(&mut stream).poll_next(&mut context), Poll::Ready(None)));
                sleep(STEADY * 2).await;
            }
            attempts
        };
        assert_eq!(attempts(STEADY / 2).await, ATTEMPTS);
        assert_eq!(attempts(STEADY).await, 2 * ATTEMPTS, "the control is healthy");
    }

    #[test]
    fn gives_up_on_a_stream_that_advances_without_messages() {
        assert_eq!(resumptions(|_| ""), MAX_EMPTY);
        let sometimes = |event: usize| if event.is_multiple_of(MAX_EMPTY / 2) { "{}" } else { "" };
        assert_eq!(resumptions(sometimes), 3 * MAX_EMPTY, "the control has messages");
    }

    #[tokio::test]
    async fn requests_a_listing_after_the_last_attempt() {
        let monitor = Arc::<ConnectionMonitor>::default();
        let policy = StreamRetryPolicy::new(monitor.clone());
        let pauses: Vec<_> = (0..).map_while(|failures| policy.retry(failures)).map(|pause| pause.as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4]);
        monitor.tools_changed.notified().await;
    }
}
