//! Cancellation and deadline of a run.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};
use tool_runtime::CancellationToken;

use crate::{ReachedLimit, RunEnding};

/// The cancellation token and the deadline of a run.
pub(super) struct StopSignal {
    /// A child of the caller's token, passed to everything that the run starts.
    pub(super) token: CancellationToken,
    deadline: Option<Pin<Box<Sleep>>>,
}

/// The cause that stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopCause {
    Cancelled,
    Time,
}

impl From<StopCause> for RunEnding {
    fn from(why: StopCause) -> Self {
        match why {
            StopCause::Cancelled => Self::Cancelled,
            StopCause::Time => Self::Limit(ReachedLimit::Time),
        }
    }
}

impl StopSignal {
    pub(super) fn new(cancel: Option<CancellationToken>, time: Option<Duration>) -> Self {
        let token = cancel.map_or_else(CancellationToken::new, |token| token.child_token());
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        Self { token, deadline: deadline.map(|at| Box::pin(sleep_until(at))) }
    }

    /// Returns the cause if the run must stop now.
    pub(super) fn check(&self) -> Option<StopCause> {
        if self.token.is_cancelled() {
            return Some(StopCause::Cancelled);
        }
        self.deadline.as_ref().filter(|sleep| sleep.deadline() <= Instant::now()).map(|_| StopCause::Time)
    }

    /// Waits until the run must stop.
    pub(super) async fn wait(&mut self) -> StopCause {
        match &mut self.deadline {
            None => {
                self.token.cancelled().await;
                StopCause::Cancelled
            }
            Some(deadline) => tokio::select! {
                biased;
                () = self.token.cancelled() => StopCause::Cancelled,
                () = deadline => StopCause::Time,
            },
        }
    }

    /// Awaits `work` unless the run must stop first. Checks before polling, so that work that is always ready cannot
    /// prevent a stop.
    pub(super) async fn run_unless_stopped<T>(&mut self, work: impl Future<Output = T>) -> Result<T, StopCause> {
        if let Some(why) = self.check() {
            return Err(why);
        }
        tokio::select! {
            biased;
            done = work => Ok(done),
            why = self.wait() => Err(why),
        }
    }
}
