//! How many calls run at once, and how many may wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::{ErrorKind, ToolError};

/// Lets so many calls run at once and so many wait. One more is told at once to come back later: a queue without an
/// end would only hide that there is too much to do.
///
/// [`Builder::concurrency`](crate::Builder::concurrency) says how many. Clones share the same places.
///
/// ```
/// use tool_runtime::Dispatcher;
///
/// let tools = Dispatcher::builder().concurrency(8, 100).build()?;
/// let places = tools.concurrency().ok_or("there is no bound")?;
/// assert_eq!((places.running(), places.waiting()), (0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Concurrency {
    places: Arc<PermitPool>,
}

#[derive(Debug)]
struct PermitPool {
    free: Arc<Semaphore>,
    running: usize,
    may_wait: usize,
    waiting: AtomicUsize,
    /// How long a place is held, in nanoseconds, the recent ones counting most.
    held: AtomicU64,
}

/// A place among the calls that run, until it is dropped.
#[derive(Debug)]
#[must_use = "the place is free again when this is dropped"]
pub(crate) struct RunPermit {
    places: Arc<PermitPool>,
    since: Instant,
    _permit: OwnedSemaphorePermit,
}

/// All places are taken, and those to wait in, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BusyError {
    /// When there may be a place, from how long calls took lately.
    retry_after: Duration,
}

impl Concurrency {
    /// So many calls run at once, at least one, and so many wait.
    pub(crate) fn new(running: usize, waiting: usize) -> Self {
        let running = running.clamp(1, Semaphore::MAX_PERMITS);
        let free = Arc::new(Semaphore::new(running));
        let places =
            PermitPool { free, running, may_wait: waiting, waiting: AtomicUsize::new(0), held: AtomicU64::new(0) };
        Self { places: Arc::new(places) }
    }

    /// A place, as soon as one is free; those who wait get theirs in the order in which they came. Dropped, it waits
    /// no more.
    ///
    /// # Errors
    /// As many wait as may wait.
    pub(crate) fn enter(&self) -> impl Future<Output = Result<RunPermit, BusyError>> + Send + 'static {
        let places = self.places.clone();
        async move {
            if let Ok(permit) = places.free.clone().try_acquire_owned() {
                return Ok(places.taken(permit));
            }
            let waiting = WaitingCall::begin(&places)?;
            // The semaphore is never closed.
            let permit = places.free.clone().acquire_owned().await.map_err(|_| places.busy())?;
            drop(waiting);
            Ok(places.clone().taken(permit))
        }
    }

    /// How many may run at once.
    pub(crate) fn at_once(&self) -> usize {
        self.places.running
    }

    /// How many run now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.places.running - self.places.free.available_permits()
    }

    /// How many wait now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.places.waiting.load(Ordering::Relaxed)
    }
}

impl PermitPool {
    fn taken(self: Arc<Self>, permit: OwnedSemaphorePermit) -> RunPermit {
        RunPermit { places: self, since: Instant::now(), _permit: permit }
    }

    fn busy(&self) -> BusyError {
        let held = match self.held.load(Ordering::Relaxed) {
            0 => Duration::from_secs(1),
            nanos => Duration::from_nanos(nanos),
        };
        // Until all that wait have run, in turns of as many as run at once.
        let turns = u32::try_from(self.may_wait / self.running).unwrap_or(u32::MAX).saturating_add(1);
        let time = held.saturating_mul(turns);
        BusyError { retry_after: time.clamp(Duration::from_millis(100), Duration::from_secs(60)) }
    }

    fn note(&self, held: Duration) {
        let held = u64::try_from(held.as_nanos()).unwrap_or(u64::MAX);
        let update = |before: u64| Some(if before == 0 { held } else { before - before / 8 + held / 8 });
        // The update always gives a value, so that it cannot fail.
        let _ = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        self.places.note(self.since.elapsed());
    }
}

/// One that waits. It is counted until it is dropped, however that comes.
struct WaitingCall<'a>(&'a PermitPool);

impl<'a> WaitingCall<'a> {
    fn begin(places: &'a PermitPool) -> Result<Self, BusyError> {
        let one_more = |waiting| (waiting < places.may_wait).then_some(waiting + 1);
        match places.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(Self(places)),
            Err(_) => Err(places.busy()),
        }
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl BusyError {
    /// The answer to the call, in words for the model, and with the time to come back for programs.
    pub(crate) fn error(self, tool: &str) -> ToolError {
        let time = in_words(self.retry_after);
        let message = format!("`{tool}` did not run: too many calls are running, try again in {time}.");
        ToolError::new(ErrorKind::Busy, message).with_retry_after(self.retry_after)
    }
}

/// A time to wait, rounded up so that who keeps to it is not too early.
pub(crate) fn in_words(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    match seconds {
        0..120 => format!("{} s", seconds.max(1)),
        120..7_200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3_600)),
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn some_run_some_wait_and_the_rest_comes_back_later() {
        let concurrency = Concurrency::new(2, 1);
        let (first, second) = (concurrency.enter().await.unwrap(), concurrency.enter().await.unwrap());
        let third = tokio::spawn(concurrency.enter());
        yield_now().await;
        assert_eq!((concurrency.running(), concurrency.waiting()), (2, 1));
        assert_eq!(concurrency.enter().await.unwrap_err().retry_after, Duration::from_secs(1), "nothing is known yet");

        advance(Duration::from_secs(5)).await;
        drop(first);
        let third = third.await.unwrap().unwrap();
        assert_eq!((concurrency.running(), concurrency.waiting()), (2, 0));
        drop((second, third));
        assert_eq!((concurrency.running(), concurrency.waiting()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_to_wait_is_learned_from_calls() {
        let concurrency = Concurrency::new(1, 3);
        let permit = concurrency.enter().await.unwrap();
        advance(Duration::from_secs(2)).await;
        drop(permit);
        let _running = concurrency.enter().await.unwrap();
        let _waiting: Vec<_> = (0..3).map(|_| tokio::spawn(concurrency.enter())).collect();
        yield_now().await;
        let busy = concurrency.enter().await.unwrap_err();
        assert_eq!(busy.retry_after, Duration::from_secs(8));
        let error = busy.error("t");
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Busy, "`t` did not run: too many calls are running, try again in 8 s.")
        );
        assert_eq!(error.retry_after(), Some(Duration::from_secs(8)));
    }

    #[tokio::test]
    async fn one_that_stops_waiting_leaves_its_place() {
        let concurrency = Concurrency::new(1, 1);
        let running = concurrency.enter().await.unwrap();
        for _ in 0..3 {
            let mut waiting = Box::pin(concurrency.enter());
            assert!(
                std::future::poll_fn(|context| std::task::Poll::Ready(waiting.as_mut().poll(context).is_pending()))
                    .await
            );
            assert_eq!(concurrency.waiting(), 1);
            drop(waiting);
            assert_eq!(concurrency.waiting(), 0);
        }
        drop(running);
        assert_eq!(concurrency.running(), 0);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn under_load_the_bounds_hold_and_everything_comes_back() {
        let concurrency = Concurrency::new(3, 5);
        let calls: Vec<_> = (0..2_000_u32)
            .map(|number| {
                let concurrency = concurrency.clone();
                tokio::spawn(async move {
                    let entering = concurrency.enter();
                    if number % 7 == 0 {
                        return tokio::time::timeout(Duration::ZERO, entering).await.is_ok();
                    }
                    let permit = entering.await;
                    assert!(concurrency.running() <= 3 && concurrency.waiting() <= 5);
                    yield_now().await;
                    permit.is_ok()
                })
            })
            .collect();
        let mut entered = 0;
        for call in calls {
            entered += u32::from(call.await.unwrap());
        }
        assert!(entered > 0);
        assert_eq!((concurrency.running(), concurrency.waiting()), (0, 0));
    }

    #[test]
    fn times_are_rounded_up() {
        let shown = [1, 1_000, 1_001, 119_000, 120_001, 7_200_000].map(|ms| in_words(Duration::from_millis(ms)));
        assert_eq!(shown, ["1 s", "1 s", "2 s", "119 s", "3 min", "2 h"]);
    }
}
