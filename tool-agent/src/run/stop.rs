//! What stops a run from outside.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};
use tool_runtime::CancellationToken;

use crate::{Ending, Reached};

/// The token and the deadline of a run.
pub(super) struct Stop {
    /// Cancelled with the run's own. What the run starts hears of it.
    pub(super) token: CancellationToken,
    deadline: Option<Pin<Box<Sleep>>>,
}

/// What has stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Cancelled,
    Time,
}

impl From<Why> for Ending {
    fn from(why: Why) -> Self {
        match why {
            Why::Cancelled => Self::Cancelled,
            Why::Time => Self::Limit(Reached::Time),
        }
    }
}

impl Stop {
    pub(super) fn new(cancel: Option<CancellationToken>, time: Option<Duration>) -> Self {
        let token = cancel.map_or_else(CancellationToken::new, |token| token.child_token());
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        Self { token, deadline: deadline.map(|at| Box::pin(sleep_until(at))) }
    }

    /// Whether to stop now.
    pub(super) fn now(&self) -> Option<Why> {
        if self.token.is_cancelled() {
            return Some(Why::Cancelled);
        }
        self.deadline.as_ref().filter(|sleep| sleep.deadline() <= Instant::now()).map(|_| Why::Time)
    }

    /// Waits until it is time to stop.
    pub(super) async fn wait(&mut self) -> Why {
        match &mut self.deadline {
            None => {
                self.token.cancelled().await;
                Why::Cancelled
            }
            Some(deadline) => tokio::select! {
                biased;
                () = self.token.cancelled() => Why::Cancelled,
                () = deadline => Why::Time,
            },
        }
    }

    /// Waits for something, unless it is time to stop before. Something that is always there does not keep a run from
    /// stopping.
    pub(super) async fn unless<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Why> {
        if let Some(why) = self.now() {
            return Err(why);
        }
        tokio::select! {
            biased;
            done = work => Ok(done),
            why = self.wait() => Err(why),
        }
    }
}
