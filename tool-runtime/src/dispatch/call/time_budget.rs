//! The time that a call may take.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep};

use super::messages::{no_runtime, timed_out};
use crate::handler_failure::HandlerFailure;
use crate::panics;

/// The time of a call from start to end. The time that a user takes to decide is not counted.
#[derive(Clone, Copy)]
pub(crate) struct TimeBudget {
    /// The whole timeout, for messages.
    pub(crate) limit: Option<Duration>,
    /// The time that is left.
    pub(crate) left: Option<Duration>,
}

impl TimeBudget {
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        Self { limit, left: limit }
    }

    /// Awaits a future within the time that is left, and subtracts the time it took.
    pub(crate) async fn spend<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Box<HandlerFailure>> {
        let Some(left) = self.left else { return Ok(work.await) };
        let started = Instant::now();
        let done = within(left, work).await;
        self.left = Some(left.saturating_sub(started.elapsed()));
        done.map_err(|error| match error {
            WaitError::TimedOut => timed_out(self.limit.unwrap_or_default()),
            WaitError::NoTimer => no_runtime(),
        })
    }
}

/// The reason why a future did not complete within its time.
pub(crate) enum WaitError {
    TimedOut,
    /// The future has to wait, and this thread has no runtime with a timer.
    NoTimer,
}

/// Awaits a future for a limited time. A future that is ready at once needs no timer.
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
        sleep.as_mut().poll(context).map(|()| Err(WaitError::TimedOut))
    })
    .await
}

/// Returns a timer, or `None` if this thread has no runtime with time enabled.
pub(crate) fn timer(duration: Duration) -> Option<Pin<Box<Sleep>>> {
    Handle::try_current().ok()?;
    panics::catch(|| Box::pin(tokio::time::sleep(duration))).ok()
}
