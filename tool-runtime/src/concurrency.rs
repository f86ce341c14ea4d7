//! Limits on concurrent calls: permits for calls that run, and a bounded queue for calls that wait.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::{ErrorKind, ToolError};

/// Limits how many calls run at once and how many wait. Further calls are refused at once, because an unbounded queue
/// would only hide the overload.
///
/// Set by [`Builder::concurrency`](crate::Builder::concurrency). Clones share the permits.
///
/// ```
/// use tool_runtime::Dispatcher;
///
/// let tools = Dispatcher::builder().allow_empty().concurrency(8, 100).build()?;
/// let concurrency = tools.concurrency().ok_or("there is no limit")?;
/// assert_eq!((concurrency.running(), concurrency.waiting()), (0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Concurrency {
    pool: Arc<PermitPool>,
}

#[derive(Debug)]
struct PermitPool {
    free: Arc<Semaphore>,
    limit: usize,
    queue_limit: usize,
    waiting: AtomicUsize,
    /// The time for which a permit is held, in nanoseconds, as a moving average.
    held: AtomicU64,
}

/// The right of a call to run, until it is dropped.
#[derive(Debug)]
#[must_use = "dropping it releases the permit"]
pub(crate) struct RunPermit {
    pool: Arc<PermitPool>,
    since: Instant,
    _permit: OwnedSemaphorePermit,
}

/// The error of a call for which there is neither a permit nor room in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BusyError {
    /// An estimate from the duration of recent calls.
    retry_after: Duration,
}

impl Concurrency {
    /// Creates a pool of permits, at least one, with a queue of this length.
    pub(crate) fn new(running: usize, waiting: usize) -> Self {
        let limit = running.clamp(1, Semaphore::MAX_PERMITS);
        let free = Arc::new(Semaphore::new(limit));
        let pool =
            PermitPool { free, limit, queue_limit: waiting, waiting: AtomicUsize::new(0), held: AtomicU64::new(0) };
        Self { pool: Arc::new(pool) }
    }

    /// Waits for a permit. Calls are served in the order in which they came. Dropping the future leaves the queue.
    ///
    /// # Errors
    /// If the queue is full.
    pub(crate) fn enter(&self) -> impl Future<Output = Result<RunPermit, BusyError>> + Send + 'static {
        let pool = self.pool.clone();
        async move {
            if let Ok(permit) = pool.free.clone().try_acquire_owned() {
                return Ok(pool.acquired(permit));
            }
            let waiting = WaitingCall::begin(&pool)?;
            // The semaphore is never closed.
            let permit = pool.free.clone().acquire_owned().await.map_err(|_| pool.busy())?;
            drop(waiting);
            Ok(pool.clone().acquired(permit))
        }
    }

    /// Returns the number of calls that may run at once.
    pub(crate) fn limit(&self) -> usize {
        self.pool.limit
    }

    /// Returns the number of calls that run now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.pool.limit - self.pool.free.available_permits()
    }

    /// Returns the number of calls that wait now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.pool.waiting.load(Ordering::Relaxed)
    }
}

impl PermitPool {
    fn acquired(self: Arc<Self>, permit: OwnedSemaphorePermit) -> RunPermit {
        RunPermit { pool: self, since: Instant::now(), _permit: permit }
    }

    fn busy(&self) -> BusyError {
        let held = match self.held.load(Ordering::Relaxed) {
            0 => Duration::from_secs(1),
            nanos => Duration::from_nanos(nanos),
        };
        // The time until all waiting calls have run, in batches of `limit`.
        let batches = u32::try_from(self.queue_limit / self.limit).unwrap_or(u32::MAX).saturating_add(1);
        let time = held.saturating_mul(batches);
        BusyError { retry_after: time.clamp(Duration::from_millis(100), Duration::from_secs(60)) }
    }

    fn note(&self, held: Duration) {
        let held = u64::try_from(held.as_nanos()).unwrap_or(u64::MAX);
        let update = |before: u64| Some(if before == 0 { held } else { before - before / 8 + held / 8 });
        // Cannot fail, because the update always returns a value.
        let _ = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        self.pool.note(self.since.elapsed());
    }
}

/// A call in the queue, counted until this is dropped.
struct WaitingCall<'a>(&'a PermitPool);

impl<'a> WaitingCall<'a> {
    fn begin(pool: &'a PermitPool) -> Result<Self, BusyError> {
        let one_more = |waiting| (waiting < pool.queue_limit).then_some(waiting + 1);
        match pool.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(Self(pool)),
            Err(_) => Err(pool.busy()),
        }
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl BusyError {
    /// Returns the error that the model reads, with the retry time for programs.
    pub(crate) fn error(self, tool: &str) -> ToolError {
        let time = in_words(self.retry_after);
        let message = format!("`{tool}` did not run: too many calls are running, try again in {time}.");
        ToolError::new(ErrorKind::Busy, message).with_retry_after(self.retry_after)
    }
}

/// The permit of a call, if [`Builder::concurrency`](crate::Builder::concurrency) limits the calls that run at a time. A
/// handler can have it injected by type.
///
/// A handler that waits for other calls of the same dispatcher should [release](Self::release) its permit first:
/// otherwise all running calls could wait for permits that never become free. A handler that takes the
/// [`Dispatcher`](crate::Dispatcher) has released its permit already, and so has a call whose values are being
/// [finished](crate::Builder::finish).
#[derive(Clone, Debug, Default)]
pub struct CallPermit {
    /// `None` if the number of calls is not limited.
    permit: Option<Arc<Mutex<Option<RunPermit>>>>,
}

impl CallPermit {
    pub(crate) fn new(permit: RunPermit) -> Self {
        Self { permit: Some(Arc::new(Mutex::new(Some(permit)))) }
    }

    /// Releases the permit, so that another call may run. This call continues and no longer counts.
    pub fn release(&self) {
        if let Some(permit) = &self.permit {
            drop(permit.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// Formats a time to wait, rounded up so that a retry is never too early.
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
    async fn some_calls_run_some_wait_and_the_rest_are_refused() {
        let concurrency = Concurrency::new(2, 1);
        let (first, second) = (concurrency.enter().await.unwrap(), concurrency.enter().await.unwrap());
        let third = tokio::spawn(concurrency.enter());
        yield_now().await;
        assert_eq!((concurrency.running(), concurrency.waiting()), (2, 1));
        assert_eq!(concurrency.enter().await.unwrap_err().retry_after, Duration::from_secs(1), "no call has run yet");

        advance(Duration::from_secs(5)).await;
        drop(first);
        let third = third.await.unwrap().unwrap();
        assert_eq!((concurrency.running(), concurrency.waiting()), (2, 0));
        drop((second, third));
        assert_eq!((concurrency.running(), concurrency.waiting()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn estimates_the_retry_time_from_recent_calls() {
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
    async fn dropping_a_waiting_call_leaves_the_queue() {
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
    async fn the_limits_hold_under_load_and_all_permits_return() {
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
    fn rounds_times_up() {
        let shown = [1, 1_000, 1_001, 119_000, 120_001, 7_200_000].map(|ms| in_words(Duration::from_millis(ms)));
        assert_eq!(shown, ["1 s", "1 s", "2 s", "119 s", "3 min", "2 h"]);
    }
}

#[cfg(test)]
mod permit_tests {
    use std::sync::{Arc, Mutex, OnceLock};
    use std::time::Duration;

    use crate::inject::{CallPermit, InjectError};
    use crate::{Dispatcher, RuntimeTool, Scope, ToolCall, tool, tool_class};

    /// A service whose tools call another tool.
    #[derive(Clone, Default)]
    struct Outer {
        tools: Arc<OnceLock<Dispatcher>>,
    }

    async fn inner(tools: &Dispatcher) -> String {
        let result = tools.call(ToolCall::from_text("inner", "{}")).await;
        let running = tools.concurrency().map_or(0, |concurrency| concurrency.running());
        format!("{}, {running} run", result.output)
    }

    #[tool_class(crate = crate, manual)]
    impl Outer {
        /// Call through the injected dispatcher.
        #[tool]
        async fn injected(&self, #[inject] tools: &Dispatcher) -> String {
            inner(tools).await
        }

        /// Call through its own dispatcher.
        #[tool]
        async fn own(&self, release: bool, #[inject] permit: &CallPermit) -> String {
            if release {
                permit.release();
            }
            inner(self.tools.get().unwrap()).await
        }
    }

    /// With one permit each call would wait for itself. Paused time advances only when nothing else runs.
    #[tokio::test(start_paused = true)]
    async fn a_handler_that_waits_for_another_call_releases_its_permit() {
        let scoped = |(): (), scope: Scope| async move { inner(&scope.value().await.unwrap()).await };
        let outer = Outer::default();
        let tools = Dispatcher::builder()
            .service(outer.clone())
            .tool(RuntimeTool::new("inner", "", |(): ()| async { "done" }))
            .tool(RuntimeTool::scoped("scoped", "", scoped))
            .concurrency(1, 10)
            .build()
            .unwrap();
        assert!(outer.tools.set(tools.clone()).is_ok());
        let call = async |name: &str, arguments: &str| {
            tools.call(ToolCall::from_text(name, arguments)).timeout(Duration::from_secs(60)).await.output
        };
        for (name, arguments) in [("outer.injected", "{}"), ("outer.own", r#"{"release": true}"#), ("scoped", "{}")] {
            assert_eq!(call(name, arguments).await, "done, 0 run", "{name}");
        }
        assert!(call("outer.own", r#"{"release": false}"#).await.contains("did not finish"), "it keeps its permit");
        assert_eq!(call("inner", "{}").await, "done");
    }

    /// Otherwise a hook would wait for the permit of its own call.
    #[tokio::test(start_paused = true)]
    async fn a_finish_hook_may_call_a_tool() {
        let (tools, audited) = (Arc::new(OnceLock::<Dispatcher>::new()), Arc::new(Mutex::new(Vec::new())));
        let finish = {
            let (tools, audited) = (tools.clone(), audited.clone());
            move |number: u32, _| {
                let (tools, audited) = (tools.clone(), audited.clone());
                async move {
                    let audit = inner(tools.get().unwrap()).await;
                    audited.lock().unwrap().push(format!("{number}: {audit}"));
                }
            }
        };
        let provided = |(): (), scope: Scope| async move { scope.get::<u32>("number").await.unwrap().to_string() };
        let dispatcher = Dispatcher::builder()
            .tool(RuntimeTool::new("inner", "", |(): ()| async { "done" }))
            .tool(RuntimeTool::scoped("provided", "", provided))
            .provide("number", |_| async { Ok::<_, InjectError>(7_u32) })
            .finish("number", finish)
            .concurrency(1, 10)
            .build()
            .unwrap();
        assert!(tools.set(dispatcher.clone()).is_ok());
        let call = || ToolCall::from_text("provided", "{}");
        let called = async {
            let one = dispatcher.call(call()).await;
            (one, dispatcher.call_all([call(), call()]).await)
        };
        let (one, turn) =
            tokio::time::timeout(Duration::from_secs(3_600), called).await.expect("no call waits for itself");
        assert_eq!([&*one.output, &*turn[0].output, &*turn[1].output], ["7", "7", "7"]);
        assert_eq!(audited.lock().unwrap().len(), 3);
        assert!(audited.lock().unwrap().iter().all(|audit| audit.starts_with("7: done")), "{audited:?}");
    }
}
