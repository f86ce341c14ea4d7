//! What is on record of a call: before it runs, that it starts, and after it, how it ended.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{Careful, Read};
use crate::dispatch::budget::{Late, within};
use crate::journal::{Begun, Finished, Journal, Started};
use crate::{ErrorKind, ToolError, ToolResult};

/// How long a call that is over waits for its outcome to be recorded. That goes on in the background then.
const RECORD_GRACE: Duration = Duration::from_secs(5);

impl Careful {
    /// A call that completed before is answered as it was then; of one that was left in the middle nobody knows.
    pub(super) async fn recall(&self, asked: &Value) -> Result<(), Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(()) };
        let started = Started::redacted(&self.call, self.redact(asked));
        match journal.recall(&started.key).await {
            Ok(None) => Ok(()),
            Ok(Some(begun)) => self.known(begun),
            Err(error) => Err(self.unrecorded(&error.to_string())),
        }
    }

    fn known(&self, begun: Begun) -> Result<(), Box<ToolResult>> {
        match begun {
            Begun::New => Ok(()),
            Begun::Completed(mut result) => {
                result.metadata.insert("replayed", true);
                Err(result)
            }
            Begun::Unfinished => {
                let message =
                    "was started before and never finished: it may have taken effect. Look before you call it again";
                Err(self.failure(ErrorKind::OutcomeUnknown, message.to_owned()))
            }
            Begun::Running => Err(self.failure(ErrorKind::Busy, "is running already, by the same call".to_owned())),
        }
    }

    /// Records that the handler starts. Without a record it does not.
    pub(super) async fn begin(
        &self,
        read: &Read,
        asked: &Value,
        decision: &'static str,
    ) -> Result<Option<Record>, Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(None) };
        let mut started = self.started(read).decision(decision);
        started.key = Started::redacted(&self.call, self.redact(asked)).key;
        let (journal, runtime) = (journal.clone(), self.runtime.clone());
        // If nobody waits for it any more, the call is on record all the same, and so must be that it did not run.
        let beginning = ToTheEnd::new(&self.runtime, async move {
            let begun = journal.begin(&started).await?;
            let record = (begun == Begun::New).then(|| Record { owed: Some((journal, started)), runtime });
            Ok::<_, crate::journal::JournalError>((begun, record))
        });
        match beginning.await {
            Ok((begun, record)) => self.known(begun).map(|()| record),
            Err(error) => Err(self.unrecorded(&error.to_string())),
        }
    }

    fn started(&self, read: &Read) -> Started {
        let started = Started::redacted(&self.call, self.redact(&read.arguments));
        match &read.repaired {
            Some(repaired) => started.repairs(repaired.values()),
            None => started,
        }
    }

    /// Records a decision after which nothing runs.
    pub(super) async fn note(&self, read: &Read, decision: &str) -> Result<(), Box<ToolResult>> {
        if self.inner.rules.journal.is_none() {
            return Ok(());
        }
        self.note_that(self.started(read), decision).await
    }

    pub(super) async fn note_that(&self, call: Started, decision: &str) -> Result<(), Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(()) };
        journal.note(&call, decision).await.map_err(|error| self.unrecorded(&error.to_string()))
    }

    fn unrecorded(&self, error: &str) -> Box<ToolResult> {
        self.failure(ErrorKind::Journal, format!("did not run, because it cannot be recorded: {error}"))
    }
}

/// A call that is on record as started. Its end must follow; dropped, it is that the call did not run.
pub(super) struct Record {
    owed: Option<(Arc<dyn Journal>, Started)>,
    runtime: Handle,
}

impl Record {
    /// Records the outcome, and whether that was done before the answer. A journal that is slow, or a call that is
    /// cancelled, does not keep the answer back for longer than it must.
    pub(super) async fn finish(
        mut self,
        result: &ToolResult,
        took: Duration,
        cancel: Option<&CancellationToken>,
    ) -> bool {
        let Some(mut writing) = self.writing(Finished::new(result.clone(), took)) else { return true };
        let bounded = async {
            match within(RECORD_GRACE, &mut writing).await {
                Ok(written) => written,
                Err(Late::NoTimer) => writing.await,
                Err(Late::TooLate) => false,
            }
        };
        match cancel {
            None => bounded.await,
            Some(token) => token.run_until_cancelled(bounded).await.unwrap_or(false),
        }
    }

    fn writing(&mut self, finished: Finished) -> Option<ToTheEnd<bool>> {
        let (journal, started) = self.owed.take()?;
        Some(ToTheEnd::new(&self.runtime, async move {
            let written = journal.finish(&started.key, &finished).await;
            if let Err(error) = &written {
                tracing::error!(tool = started.tool, %error, "the outcome of a call could not be recorded");
            }
            written.is_ok()
        }))
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let Some((_, started)) = &self.owed else { return };
        let error = ToolError::new(ErrorKind::Cancelled, format!("`{}` was cancelled before it ran.", started.tool));
        drop(self.writing(Finished::new(ToolResult::failure(error), Duration::ZERO)));
    }
}

/// Work that is done to its end: dropped before, it goes on in the background.
struct ToTheEnd<T: Send + 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    runtime: Handle,
}

impl<T: Send + 'static> ToTheEnd<T> {
    fn new(runtime: &Handle, work: impl Future<Output = T> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)), runtime: runtime.clone() }
    }
}

impl<T: Send + 'static> Future for ToTheEnd<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out while it is polled: what panics is not polled again.
        let mut work = self.work.take().expect("it is not polled after its end");
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for ToTheEnd<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.runtime.spawn(work.in_current_span());
        }
    }
}
