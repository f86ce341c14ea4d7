//! What is on record of a call: before it runs, that it starts, and after it, how it ended.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{DecodedArguments, GuardedCall};
use crate::confirm::Question;
use crate::detach_on_drop::DetachOnDrop;
use crate::dispatch::call::time_budget::{WaitError, within};
use crate::journal::{CallKey, CallStatus, FinishedCall, Journal, JournalDecision, StartedCall};
use crate::{ErrorKind, ToolError, ToolResult};

fn replayed(mut result: Box<ToolResult>) -> Box<ToolResult> {
    result.metadata.insert("replayed", true);
    result
}

/// How long a call that is over waits for its outcome to be recorded. That goes on in the background then.
const RECORD_GRACE: Duration = Duration::from_secs(5);

impl GuardedCall {
    /// A call that completed before is answered as it was then; of one that was left in the middle nobody knows.
    pub(crate) async fn recall(&self, key: &CallKey) -> Result<(), Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(()) };
        match journal.recall(key).await {
            Ok(None) => Ok(()),
            Ok(Some(begun)) => self.known(begun),
            Err(error) => Err(self.unrecorded(&error.to_string())),
        }
    }

    fn known(&self, begun: CallStatus) -> Result<(), Box<ToolResult>> {
        match begun {
            CallStatus::New => Ok(()),
            CallStatus::NotStarted(result) if self.replay => Err(replayed(result)),
            CallStatus::NotStarted(_) => Ok(()),
            CallStatus::Completed(result) => {
                self.has_run_before();
                Err(replayed(result))
            }
            CallStatus::Unfinished => {
                self.has_run_before();
                let message =
                    "was started before and never finished: it may have taken effect. Look before you call it again";
                Err(self.failure(ErrorKind::OutcomeUnknown, message.to_owned()))
            }
            CallStatus::Running => {
                Err(self.failure(ErrorKind::Busy, "is running already, by the same call".to_owned()))
            }
        }
    }

    /// An approval of a call that has run before is not good for another run.
    fn has_run_before(&self) {
        let _ = self.stage.start();
    }

    /// Records that the handler starts. Without a record it does not.
    pub(crate) async fn begin(
        &self,
        read: &DecodedArguments,
        key: Option<CallKey>,
        decision: JournalDecision,
    ) -> Result<Option<OpenRecord>, Box<ToolResult>> {
        let (Some(journal), Some(key)) = (&self.inner.rules.journal, key) else { return Ok(None) };
        let mut started = self.started(read).decision(decision);
        started.key = key;
        let (journal, runtime) = (journal.clone(), self.runtime.clone());
        // If nobody waits for it any more, the call is on record all the same, and so must be that it did not run.
        let beginning = DetachOnDrop::new(Some(self.runtime.clone()), async move {
            let begun = journal.begin(&started).await?;
            let record = (begun == CallStatus::New).then(|| OpenRecord { owed: Some((journal, started)), runtime });
            Ok::<_, crate::journal::JournalError>((begun, record))
        });
        match beginning.await {
            Ok((begun, record)) => self.known(begun).map(|()| record),
            Err(error) => Err(self.unrecorded(&error.to_string())),
        }
    }

    /// The call with the arguments that were read.
    pub(crate) fn started(&self, read: &DecodedArguments) -> StartedCall {
        let started = StartedCall::redacted(&self.call, self.redact(&read.arguments));
        let started = started.without_defaults(&read.defaults);
        match &read.repaired {
            Some(repaired) => started.repairs(repaired.values()),
            None => started,
        }
    }

    /// The call that somebody was asked about.
    pub(crate) fn asked(&self, question: &Question) -> StartedCall {
        let started = StartedCall::new(&self.call, &question.definition, &question.arguments);
        started.without_defaults(&question.defaults)
    }

    /// A call of which nothing is on record yet, and which may be stopped before it starts.
    pub(crate) fn unnoted(&self, call: Option<StartedCall>) -> Option<UnrecordedCall> {
        let journal = self.inner.rules.journal.clone()?;
        Some(UnrecordedCall { owed: Some((journal, call?)), runtime: self.runtime.clone() })
    }

    /// Records a decision after which nothing runs.
    pub(crate) async fn note(&self, read: &DecodedArguments, decision: JournalDecision) -> Result<(), Box<ToolResult>> {
        if self.inner.rules.journal.is_none() {
            return Ok(());
        }
        self.note_that(self.started(read), decision).await
    }

    pub(crate) async fn note_that(&self, call: StartedCall, decision: JournalDecision) -> Result<(), Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(()) };
        journal.note(&call, &decision).await.map_err(|error| self.unrecorded(&error.to_string()))
    }

    fn unrecorded(&self, error: &str) -> Box<ToolResult> {
        self.failure(ErrorKind::Journal, format!("did not run, because it cannot be recorded: {error}"))
    }
}

/// A call that is not on record and has not started. Dropped, it is noted as cancelled.
pub(crate) struct UnrecordedCall {
    owed: Option<(Arc<dyn Journal>, StartedCall)>,
    runtime: Handle,
}

impl UnrecordedCall {
    /// Notes that the call was stopped, if this result says so. All others are noted where they are made.
    pub(crate) async fn note(mut self, result: &ToolResult) {
        let decision = match result.error.as_ref().map(|error| error.kind) {
            Some(ErrorKind::Cancelled) => JournalDecision::Cancelled,
            Some(ErrorKind::TimedOut) => JournalDecision::TimedOut,
            Some(ErrorKind::Panicked) => JournalDecision::Panicked,
            _ => return self.settle(),
        };
        if let Some(writing) = self.writing(decision) {
            in_time(writing).await;
        }
    }

    /// The call is noted, or starts.
    pub(crate) fn settle(mut self) {
        self.owed = None;
    }

    fn writing(&mut self, decision: JournalDecision) -> Option<DetachOnDrop<bool>> {
        let (journal, call) = self.owed.take()?;
        Some(DetachOnDrop::new(Some(self.runtime.clone()), async move {
            let written = journal.note(&call, &decision).await;
            if let Err(error) = &written {
                tracing::error!(tool = call.tool, decision = decision.as_str(), %error, "a decision could not be recorded");
            }
            written.is_ok()
        }))
    }
}

impl Drop for UnrecordedCall {
    fn drop(&mut self) {
        drop(self.writing(JournalDecision::Cancelled));
    }
}

/// Waits for a record, but not for longer than it may take. It goes on in the background then.
async fn in_time(mut writing: DetachOnDrop<bool>) -> bool {
    match within(RECORD_GRACE, &mut writing).await {
        Ok(written) => written,
        Err(WaitError::NoTimer) => writing.await,
        Err(WaitError::TooLate) => false,
    }
}

/// A call that is on record as started. Its end must follow; dropped, it is that the call did not run.
pub(crate) struct OpenRecord {
    owed: Option<(Arc<dyn Journal>, StartedCall)>,
    runtime: Handle,
}

impl OpenRecord {
    /// Records the outcome, and whether that was done before the answer. A journal that is slow, or a call that is
    /// cancelled, does not keep the answer back for longer than it must.
    pub(crate) async fn finish(
        mut self,
        result: &ToolResult,
        took: Duration,
        cancel: Option<&CancellationToken>,
    ) -> bool {
        let finished = FinishedCall::new(result.clone(), took).started(!result.is_not_started());
        let Some(writing) = self.writing(finished) else { return true };
        match cancel {
            None => in_time(writing).await,
            Some(token) => token.run_until_cancelled(in_time(writing)).await.unwrap_or(false),
        }
    }

    fn writing(&mut self, finished: FinishedCall) -> Option<DetachOnDrop<bool>> {
        let (journal, started) = self.owed.take()?;
        Some(DetachOnDrop::new(Some(self.runtime.clone()), async move {
            let written = journal.finish(&started.key, &finished).await;
            if let Err(error) = &written {
                tracing::error!(tool = started.tool, %error, "the outcome of a call could not be recorded");
            }
            written.is_ok()
        }))
    }
}

impl Drop for OpenRecord {
    fn drop(&mut self) {
        let Some((_, started)) = &self.owed else { return };
        let error = ToolError::new(ErrorKind::Cancelled, format!("`{}` was cancelled before it ran.", started.tool));
        drop(self.writing(FinishedCall::new(ToolResult::failure(error), Duration::ZERO).started(false)));
    }
}
