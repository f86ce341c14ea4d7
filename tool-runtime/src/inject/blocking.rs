//! Blocking handlers, which run on a thread of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::ErrorKind;
use crate::handler_failure::HandlerFailure;
use crate::handler_result::HandlerResult;
use crate::panics;

const QUEUED: u8 = 0;
const STARTED: u8 = 1;
const REVOKED: u8 = 2;
const ENDED: u8 = 3;

/// The result of stopping a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopOutcome {
    /// The handler does nothing more.
    Stopped,
    /// The handler blocks a thread and cannot be stopped.
    StillRuns,
    /// The handler has ended before, and its result is available or about to be.
    HasEnded,
}

/// A blocking handler that waits for a thread, runs on one, or has ended. Once it runs it cannot be stopped.
pub(crate) struct BlockingHandler {
    thread: JoinHandle<()>,
    state: Arc<AtomicU8>,
}

/// The result of a blocking handler, once it has ended.
pub(crate) type BlockingResult = oneshot::Receiver<HandlerResult>;

impl BlockingHandler {
    /// Runs a function on a thread that may block, inside the current span.
    pub(crate) fn start(
        runtime: &Handle,
        function: Box<dyn FnOnce() -> HandlerResult + Send>,
    ) -> (Self, BlockingResult) {
        Self::start_if(runtime, || true, function)
    }

    /// Runs a function like [`start`](Self::start), if `may_start` returns `true` on that thread.
    pub(crate) fn start_if(
        runtime: &Handle,
        may_start: impl FnOnce() -> bool + Send + 'static,
        function: Box<dyn FnOnce() -> HandlerResult + Send>,
    ) -> (Self, BlockingResult) {
        let (sender, result) = oneshot::channel();
        let state = Arc::new(AtomicU8::new(QUEUED));
        let shared = state.clone();
        let span = tracing::Span::current();
        let thread = runtime.spawn_blocking(move || {
            let _in_span = span.entered();
            if shared.compare_exchange(QUEUED, STARTED, Ordering::AcqRel, Ordering::Acquire).is_ok() && may_start() {
                let run = panics::catch(function);
                // Stored before the result is sent, so that `HasEnded` implies that there is a result.
                shared.store(ENDED, Ordering::Release);
                // The receiver may be gone; the function has run all the same.
                drop(sender.send(run.unwrap_or_else(|panic| Err(HandlerFailure::panicked(panic)))));
            }
        });
        (Self { thread, state }, result)
    }

    /// Prevents the function from starting, if it has not.
    pub(crate) fn revoke(&self) -> StopOutcome {
        match self.state.compare_exchange(QUEUED, REVOKED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                self.thread.abort();
                StopOutcome::Stopped
            }
            Err(REVOKED) => StopOutcome::Stopped,
            Err(ENDED) => StopOutcome::HasEnded,
            Err(_) => StopOutcome::StillRuns,
        }
    }

    /// Waits until the function has ended, or will never start.
    pub(crate) async fn ended(self) {
        // An error of the function is in its result.
        drop(self.thread.await);
    }
}

/// Returns the result of a blocking handler, or an error if its runtime was shut down.
pub(crate) fn blocking_result(result: Result<HandlerResult, oneshot::error::RecvError>) -> HandlerResult {
    result.unwrap_or_else(|_| {
        Err(HandlerFailure::new(ErrorKind::NoRuntime, "lost its thread: the runtime was shut down"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function() -> Box<dyn FnOnce() -> HandlerResult + Send> {
        Box::new(|| Ok("done".to_owned().into()))
    }

    /// The result arrives before the thread is free again. Repeated, because the race is a matter of nanoseconds.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_handler_with_a_result_has_ended() {
        for _ in 0..5_000 {
            let (blocking, answer) = BlockingHandler::start(&Handle::current(), function());
            assert_eq!(answer.await.unwrap().unwrap().text, "done");
            assert_eq!(blocking.revoke(), StopOutcome::HasEnded);
        }
    }

    #[test]
    fn a_revoked_handler_that_waits_for_a_thread_never_starts() {
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let (first, _) =
            BlockingHandler::start(runtime.handle(), Box::new(move || Ok(format!("{:?}", held.recv()).into())));
        while first.state.load(Ordering::Acquire) == QUEUED {
            std::thread::yield_now();
        }
        let (second, answer) = BlockingHandler::start(runtime.handle(), function());
        assert_eq!((first.revoke(), second.revoke()), (StopOutcome::StillRuns, StopOutcome::Stopped));
        assert_eq!(second.revoke(), StopOutcome::Stopped);
        drop(hold);
        assert!(runtime.block_on(answer).is_err());
    }
}
