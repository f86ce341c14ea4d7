//! Rate limits and permits of guarded calls.

use super::{DecodedArguments, GuardedCall};
use crate::ToolResult;
use crate::concurrency::RunPermit;
use crate::journal::JournalDecision;
use crate::limits::{LimitExceeded, Limiter};

/// A call that a limiter has counted. Unless it is [kept](Self::keep), the count is taken back on drop: a call that
/// gets no permit or no record, times out or is cancelled does not count.
pub(super) struct CountedCall<'a> {
    counted: Option<(&'a Limiter, &'a GuardedCall)>,
}

impl CountedCall<'_> {
    /// Keeps the count. Returns `true` if there is a limiter.
    pub(super) fn keep(mut self) -> bool {
        self.counted.take().is_some()
    }
}

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        if let Some((limiter, call)) = self.counted {
            limiter.take_back(call.call.name(), call.counted_conversation());
        }
    }
}

/// An open question about a call, which the limiter counts until this is dropped.
pub(super) struct OpenQuestion<'a>(Option<(&'a Limiter, &'a GuardedCall)>);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if let Some((limiter, call)) = self.0 {
            limiter.answered(call.call.name(), call.counted_conversation());
        }
    }
}

impl GuardedCall {
    /// Checks that the call would be within the limits if a user approved it. Otherwise no user is asked.
    pub(super) async fn open_question(&self, decoded: &DecodedArguments) -> Result<OpenQuestion<'_>, Box<ToolResult>> {
        let Some(limiter) = &self.inner.rules.limiter else { return Ok(OpenQuestion(None)) };
        match limiter.ask(self.call.name(), self.counted_conversation()) {
            Ok(()) => Ok(OpenQuestion(Some((limiter, self)))),
            Err(exceeded) => Err(self.rate_limited(decoded, exceeded).await),
        }
    }

    /// Counts the call against its rate limits.
    pub(super) async fn count(&self, decoded: &DecodedArguments) -> Result<CountedCall<'_>, Box<ToolResult>> {
        let Some(limiter) = &self.inner.rules.limiter else { return Ok(CountedCall { counted: None }) };
        match limiter.admit(self.call.name(), self.counted_conversation()) {
            Ok(()) => Ok(CountedCall { counted: Some((limiter, self)) }),
            Err(exceeded) => Err(self.rate_limited(decoded, exceeded).await),
        }
    }

    async fn rate_limited(&self, decoded: &DecodedArguments, exceeded: LimitExceeded) -> Box<ToolResult> {
        match self.note(decoded, JournalDecision::RateLimited).await {
            Ok(()) => Box::new(ToolResult::failure(exceeded.error(&self.tool.name))),
            Err(unrecorded) => unrecorded,
        }
    }

    /// Returns the conversation whose limits the call counts against.
    pub(super) fn counted_conversation(&self) -> Option<&str> {
        self.counts_for.as_deref().or(self.call.conversation_id())
    }

    /// Waits for a permit, if the number of concurrent calls is limited.
    pub(super) async fn acquire_permit(
        &self,
        decoded: &DecodedArguments,
    ) -> Result<Option<RunPermit>, Box<ToolResult>> {
        let Some(concurrency) = &self.inner.rules.concurrency else { return Ok(None) };
        match concurrency.enter().await {
            Ok(permit) => Ok(Some(permit)),
            Err(busy) => {
                self.note(decoded, JournalDecision::Busy).await?;
                Err(Box::new(ToolResult::failure(busy.error(&self.tool.name))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Notify;

    use crate::limits::{Limit, Limiter};
    use crate::{CancellationToken, Dispatcher, ErrorKind, RuntimeTool, ToolCall, ToolResult};

    fn kind(result: &ToolResult) -> Option<ErrorKind> {
        result.error.as_ref().map(|error| error.kind)
    }

    #[tokio::test]
    async fn a_call_without_a_permit_does_not_count() {
        let go = Arc::new(Notify::new());
        let waits = {
            let go = go.clone();
            move |(): ()| {
                let go = go.clone();
                async move { go.notified().await }
            }
        };
        let limiter = Limiter::new().tool("t", Limit::total(1)).tool_in_conversation("t", Limit::per_minute(1));
        let tools = Dispatcher::builder()
            .tool(RuntimeTool::new("waits", "", waits))
            .tool(RuntimeTool::new("t", "", |(): ()| async {}))
            .limit(limiter)
            .concurrency(1, 1)
            .build()
            .unwrap();
        let call = || tools.call(ToolCall::from_text("t", "{}").conversation("c"));
        let finished = {
            let tools = tools.clone();
            tokio::spawn(async move { tools.call(ToolCall::from_text("waits", "{}")).await })
        };
        while tools.concurrency().unwrap().running() == 0 {
            tokio::task::yield_now().await;
        }
        // One call is cancelled while it waits, one finds the queue full, one is dropped.
        let stop = CancellationToken::new();
        let mut waiting = Box::pin(call().cancel(stop.clone()));
        assert!(poll_once(&mut waiting).await.is_none());
        stop.cancel();
        assert_eq!(kind(&waiting.await), Some(ErrorKind::Cancelled));
        let mut dropped = Box::pin(tools.call(ToolCall::from_text("waits", "{}")));
        assert!(poll_once(&mut dropped).await.is_none());
        let busy = call().await;
        assert_eq!(kind(&busy), Some(ErrorKind::Busy));
        assert!(busy.error.unwrap().retry_after().is_some(), "the error has a retry time");
        drop(dropped);
        let mut dropped = Box::pin(call());
        assert!(poll_once(&mut dropped).await.is_none());
        drop(dropped);

        go.notify_one();
        assert!(finished.await.unwrap().success);
        assert_eq!(kind(&call().await), None, "the first call that runs");
        assert_eq!(kind(&call().await), Some(ErrorKind::RateLimited));
    }

    async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        std::future::poll_fn(|context| match std::pin::Pin::new(&mut *future).poll(context) {
            std::task::Poll::Ready(done) => std::task::Poll::Ready(Some(done)),
            std::task::Poll::Pending => std::task::Poll::Ready(None),
        })
        .await
    }
}
