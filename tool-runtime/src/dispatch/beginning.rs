//! A journal's answer to a call that is about to run.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;

use crate::ToolResult;
use crate::journal::{Begun, BoxFuture, Finished, Journal, JournalError, Started};

/// Records that a call starts, and gives what the journal knows of it.
///
/// It cannot be stopped half-way: the record may be written by then, and a call that nobody runs would stand there as
/// one that does. Dropped, it goes on in the background, and the call is recorded as what came of it.
pub(super) struct Beginning {
    /// Nothing once it has answered, or while it is polled: one that panics is gone.
    recording: Option<BoxFuture<'static, Result<Begun, JournalError>>>,
    journal: Arc<dyn Journal>,
    started: Arc<Started>,
    /// What came of the call, should it be dropped now.
    dropped: Option<Box<ToolResult>>,
}

impl Beginning {
    pub(super) fn new(journal: Arc<dyn Journal>, started: Arc<Started>, dropped: Box<ToolResult>) -> Self {
        let (recorder, call) = (journal.clone(), started.clone());
        let recording = Box::pin(async move { recorder.begin(&call).await });
        Self { recording: Some(recording), journal, started, dropped: Some(dropped) }
    }
}

impl Future for Beginning {
    type Output = Result<Begun, JournalError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(mut recording) = self.recording.take() else { return Poll::Pending };
        let answer = recording.as_mut().poll(context);
        if answer.is_pending() {
            self.recording = Some(recording);
        }
        answer
    }
}

impl Drop for Beginning {
    fn drop(&mut self) {
        let (Some(recording), Some(result)) = (self.recording.take(), self.dropped.take()) else { return };
        // Without a runtime nothing goes on anywhere.
        let Ok(runtime) = Handle::try_current() else { return };
        let (journal, started) = (self.journal.clone(), self.started.clone());
        runtime.spawn(async move {
            if !matches!(recording.await, Ok(Begun::New)) {
                return;
            }
            let finished = Finished::new(*result, Duration::ZERO);
            if let Err(error) = journal.finish(&started.key, &finished).await {
                tracing::error!(tool = started.tool, %error, "the outcome of a call could not be recorded");
            }
        });
    }
}
