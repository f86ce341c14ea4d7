//! The time that a call may take.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep};

use crate::dispatch::call::messages::{no_runtime, too_late};
use crate::handler_result::HandlerFailure;
use crate::panics;

/// What a call may take from beginning to end. A person who is asked takes none of it.
#[derive(Clone, Copy)]
pub(crate) struct TimeBudget {
    /// All of it, as the model is told.
    pub(crate) limit: Option<Duration>,
    /// What is left.
    pub(crate) left: Option<Duration>,
}

impl TimeBudget {
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        Self { limit, left: limit }
    }

    /// Does something and takes the time for it.
    pub(crate) async fn spend<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Box<HandlerFailure>> {
        let Some(left) = self.left else { return Ok(work.await) };
        let started = Instant::now();
        let done = within(left, work).await;
        self.left = Some(left.saturating_sub(started.elapsed()));
        done.map_err(|late| match late {
            WaitError::TooLate => too_late(self.limit.unwrap_or_default()),
            WaitError::NoTimer => no_runtime(),
        })
    }
}

/// Why something was not done within its time.
pub(crate) enum WaitError {
    TooLate,
    /// It has to wait, and there is nothing that keeps time.
    NoTimer,
}

/// Does something within a time. What is ready at once needs no timer.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, WaitError> {
    let mut work = pin!(work);
    let mut armed = None;
    poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }
        let sleep = match &mut armed {
            Some(sleep) => sleep,
            None => match timer(limit) {
                Some(sleep) => armed.insert(sleep),
                None => return Poll::Ready(Err(WaitError::NoTimer)),
            },
        };
        sleep.as_mut().poll(context).map(|()| Err(WaitError::TooLate))
    })
    .await
}

/// A timer, unless this thread has no runtime that keeps time.
pub(crate) fn timer(duration: Duration) -> Option<Pin<Box<Sleep>>> {
    Handle::try_current().ok()?;
    panics::catch(|| Box::pin(tokio::time::sleep(duration))).ok()
}
