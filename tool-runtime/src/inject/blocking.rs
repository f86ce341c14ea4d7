//! A handler on a thread that may block.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::ErrorKind;
use crate::answer::{Answer, Failure};
use crate::guard;

const QUEUED: u8 = 0;
const STARTED: u8 = 1;
const REVOKED: u8 = 2;

/// A handler that waits for a thread, runs on one, or has ended. Once it runs it cannot be stopped.
pub(crate) struct Blocking {
    thread: JoinHandle<()>,
    state: Arc<AtomicU8>,
}

/// Its answer, which comes when it has ended.
pub(crate) type BlockingAnswer = oneshot::Receiver<Answer>;

impl Blocking {
    /// Puts a function on a thread that may block.
    pub(crate) fn start(runtime: &Handle, function: Box<dyn FnOnce() -> Answer + Send>) -> (Self, BlockingAnswer) {
        let (answered, answer) = oneshot::channel();
        let state = Arc::new(AtomicU8::new(QUEUED));
        let shared = state.clone();
        let thread = runtime.spawn_blocking(move || {
            if shared.compare_exchange(QUEUED, STARTED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                let run = guard::catch(function);
                // Nobody may be listening any more; the function has run all the same.
                drop(answered.send(run.unwrap_or_else(|panic| Err(Failure::new(ErrorKind::Panicked, panic)))));
            }
        });
        (Self { thread, state }, answer)
    }

    /// Keeps the function from starting. False if it has started.
    pub(crate) fn revoke(&self) -> bool {
        match self.state.compare_exchange(QUEUED, REVOKED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                self.thread.abort();
                true
            }
            Err(state) => state == REVOKED || self.thread.is_finished(),
        }
    }

    /// Waits until the function has ended, or is sure never to start.
    pub(crate) async fn ended(self) {
        // What went wrong there, its answer has told.
        drop(self.thread.await);
    }
}

/// What a blocking handler answered, or that its runtime is gone.
pub(crate) fn blocking_answer(answer: Result<Answer, oneshot::error::RecvError>) -> Answer {
    answer.unwrap_or_else(|_| Err(Failure::new(ErrorKind::NoRuntime, "lost its thread: the runtime was shut down")))
}
