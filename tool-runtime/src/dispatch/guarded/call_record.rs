//! The journal entries of a guarded call: its start, its outcome, or the decision that kept it from running.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{DecodedArguments, GuardedCall};
use crate::confirm::Question;
use crate::detach_on_drop::DetachOnDrop;
use crate::dispatch::call::time_budget::{WaitError, within};
use crate::handler_failure::{ErrorChain, HandlerFailure, TARGET};
use crate::inject::scope::unavailable;
use crate::journal::{CallKey, CallStatus, FinishedCall, Journal, JournalDecision, JournalError, StartedCall};
use crate::{ErrorKind, ToolError, ToolResult};

/// The time that a finished call waits for its outcome to be recorded. After that the recording continues in the background.
const RECORD_GRACE: Duration = Duration::from_secs(5);

impl GuardedCall {
    /// Checks whether the journal knows the call. One that has completed is answered from the journal; one that was
    /// interrupted has an unknown outcome.
    pub(super) async fn check_journal(&self, key: &CallKey) -> Result<(), Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(()) };
        match journal.recall(key).await {
            Ok(None) => Ok(()),
            Ok(Some(status)) => self.check_status(status),
            Err(error) => Err(self.not_recorded(error)),
        }
    }

    fn check_status(&self, status: CallStatus) -> Result<(), Box<ToolResult>> {
        match status {
            CallStatus::New => Ok(()),
            CallStatus::NotStarted(result) if self.replay => Err(replayed(result)),
            CallStatus::NotStarted(_) => Ok(()),
            CallStatus::Completed(result) => {
                self.spend_approval();
                Err(replayed(result))
            }
            CallStatus::Unfinished => {
                self.spend_approval();
                let message =
                    "was started before and never finished: it may have taken effect. Check before you call it again";
                Err(self.failure(ErrorKind::OutcomeUnknown, message.to_owned()))
            }
            CallStatus::Running => {
                Err(self.failure(ErrorKind::Busy, "is already running for the same call".to_owned()))
            }
        }
    }

    /// Spends the approval of a call that has run before, so that it is not good for another run.
    fn spend_approval(&self) {
        let _ = self.stage.start();
    }

    /// Records that the handler starts. A handler whose start cannot be recorded does not run.
    pub(super) async fn open_record(
        &self,
        decoded: &DecodedArguments,
        key: Option<CallKey>,
        decision: JournalDecision,
    ) -> Result<Option<OpenRecord>, Box<ToolResult>> {
        let (Some(journal), Some(key)) = (&self.inner.rules.journal, key) else { return Ok(None) };
        let mut started = self.started_entry(decoded).decision(decision);
        started.key = key;
        let (journal, runtime) = (journal.clone(), self.runtime.clone());
        // If the call is dropped meanwhile, its start is recorded all the same, and so must be that it did not run.
        let opening = DetachOnDrop::new(Some(self.runtime.clone()), async move {
            let status = journal.begin(&started).await?;
            let record = (status == CallStatus::New).then(|| OpenRecord { owed: Some((journal, started)), runtime });
            Ok::<_, JournalError>((status, record))
        });
        match opening.await {
            Ok((status, record)) => self.check_status(status).map(|()| record),
            Err(error) => Err(self.not_recorded(error)),
        }
    }

    /// Returns the journal entry of the call with its decoded arguments.
    pub(super) fn started_entry(&self, decoded: &DecodedArguments) -> StartedCall {
        let started = StartedCall::redacted(&self.call, self.redact(&decoded.arguments));
        let started = started.without_defaults(&decoded.defaults);
        match &decoded.repaired {
            Some(repaired) => started.repairs(repaired.values()),
            None => started,
        }
    }

    /// Returns the journal entry of the call that a user has approved.
    pub(super) fn approved_entry(&self, question: &Question) -> StartedCall {
        let started = StartedCall::new(&self.call, &question.definition, &question.arguments);
        started.without_defaults(&question.defaults)
    }

    /// Returns a guard for a call that is not recorded yet and may be stopped before it starts.
    pub(super) fn unrecorded(&self, call: Option<StartedCall>) -> Option<UnrecordedCall> {
        let journal = self.inner.rules.journal.clone()?;
        Some(UnrecordedCall { owed: Some((journal, call?)), runtime: self.runtime.clone() })
    }

    /// Records a decision after which the handler does not run.
    pub(super) async fn note(
        &self,
        decoded: &DecodedArguments,
        decision: JournalDecision,
    ) -> Result<(), Box<ToolResult>> {
        if self.inner.rules.journal.is_none() {
            return Ok(());
        }
        self.note_entry(self.started_entry(decoded), decision).await
    }

    pub(super) async fn note_entry(&self, call: StartedCall, decision: JournalDecision) -> Result<(), Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(()) };
        journal.note(&call, &decision).await.map_err(|error| self.not_recorded(error))
    }

    fn not_recorded(&self, error: JournalError) -> Box<ToolResult> {
        let message = unavailable(&self.tool.name);
        self.not_run(HandlerFailure::new(ErrorKind::Journal, message).with_error(error))
    }
}

fn replayed(mut result: Box<ToolResult>) -> Box<ToolResult> {
    result.metadata.insert("replayed", true);
    result
}

/// A call that is not recorded and has not started. Dropping it records a cancellation.
pub(super) struct UnrecordedCall {
    owed: Option<(Arc<dyn Journal>, StartedCall)>,
    runtime: Handle,
}

impl UnrecordedCall {
    /// Records that the call was stopped, if the result says so. Other decisions are recorded where they are made.
    pub(super) async fn note(mut self, result: &ToolResult) {
        let decision = match result.error.as_ref().map(|error| error.kind) {
            Some(ErrorKind::Cancelled) => JournalDecision::Cancelled,
            Some(ErrorKind::TimedOut) => JournalDecision::TimedOut,
            Some(ErrorKind::Panicked) => JournalDecision::Panicked,
            _ => return self.settle(),
        };
        if let Some(writing) = self.writing(decision) {
            within_grace(writing).await;
        }
    }

    /// Disarms the guard: the decision is recorded, or the call starts.
    pub(super) fn settle(mut self) {
        self.owed = None;
    }

    fn writing(&mut self, decision: JournalDecision) -> Option<DetachOnDrop<bool>> {
        let (journal, call) = self.owed.take()?;
        Some(DetachOnDrop::new(Some(self.runtime.clone()), async move {
            let written = journal.note(&call, &decision).await;
            if let Err(error) = &written {
                tracing::error!(target: TARGET, tool = call.tool, decision = decision.as_str(), error = %ErrorChain(error), "a decision could not be recorded");
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

/// Waits for a record for a limited time. After that the recording continues in the background.
async fn within_grace(mut writing: DetachOnDrop<bool>) -> bool {
    match within(RECORD_GRACE, &mut writing).await {
        Ok(written) => written,
        Err(WaitError::NoTimer) => writing.await,
        Err(WaitError::TimedOut) => false,
    }
}

/// A call that is recorded as started. Its outcome must follow; dropping this records that the call did not run.
pub(super) struct OpenRecord {
    owed: Option<(Arc<dyn Journal>, StartedCall)>,
    runtime: Handle,
}

impl OpenRecord {
    /// Records the outcome. Returns `false` if the result did not wait for that, because the journal is slow or the call
    /// was cancelled.
    pub(super) async fn finish(
        mut self,
        result: &ToolResult,
        took: Duration,
        cancel: Option<&CancellationToken>,
    ) -> bool {
        let finished = FinishedCall::new(result.clone(), took).started(!result.is_not_started());
        let Some(writing) = self.writing(finished) else { return true };
        match cancel {
            None => within_grace(writing).await,
            Some(token) => token.run_until_cancelled(within_grace(writing)).await.unwrap_or(false),
        }
    }

    fn writing(&mut self, finished: FinishedCall) -> Option<DetachOnDrop<bool>> {
        let (journal, started) = self.owed.take()?;
        Some(DetachOnDrop::new(Some(self.runtime.clone()), async move {
            let written = journal.finish(&started.key, &finished).await;
            if let Err(error) = &written {
                tracing::error!(target: TARGET, tool = started.tool, error = %ErrorChain(error), "the outcome of a call could not be recorded");
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
