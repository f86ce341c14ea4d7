//! How often calls may come, and how many run at a time.

use super::{DecodedArguments, GuardedCall};
use crate::ToolResult;
use crate::concurrency::RunPermit;
use crate::journal::JournalDecision;
use crate::limits::{LimitExceeded, Limiter};

/// A call that was counted. Unless it comes to [count](Self::counts), that is taken back: what does not run, because
/// there is no place for it or no record, because it is too late or cancelled, has not been called.
pub(crate) struct CountedCall<'a> {
    counted: Option<(&'a Limiter, &'a GuardedCall)>,
}

impl CountedCall<'_> {
    /// Counts the call from here on. Returns `true` if there is anything that counts it.
    pub(crate) fn counts(mut self) -> bool {
        self.counted.take().is_some()
    }
}

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        if let Some((limiter, call)) = self.counted {
            limiter.take_back(call.call.name(), call.counted_in());
        }
    }
}

/// A question about a call that is open. Dropped, it is answered.
pub(crate) struct OpenQuestion<'a>(Option<(&'a Limiter, &'a GuardedCall)>);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if let Some((limiter, call)) = self.0 {
            limiter.answered(call.call.name(), call.counted_in());
        }
    }
}

impl GuardedCall {
    /// Looks whether the call could be counted if somebody were to confirm it. A person is not asked otherwise.
    pub(crate) async fn may_ask(&self, read: &DecodedArguments) -> Result<OpenQuestion<'_>, Box<ToolResult>> {
        let Some(limiter) = &self.inner.rules.limiter else { return Ok(OpenQuestion(None)) };
        match limiter.ask(self.call.name(), self.counted_in()) {
            Ok(()) => Ok(OpenQuestion(Some((limiter, self)))),
            Err(exceeded) => Err(self.exceeded(read, exceeded).await),
        }
    }

    async fn exceeded(&self, read: &DecodedArguments, exceeded: LimitExceeded) -> Box<ToolResult> {
        match self.note(read, JournalDecision::RateLimited).await {
            Ok(()) => Box::new(ToolResult::failure(exceeded.error(&self.tool.name))),
            Err(unrecorded) => unrecorded,
        }
    }

    /// Counts the call, where they may come only so often.
    pub(crate) async fn admit(&self, read: &DecodedArguments) -> Result<CountedCall<'_>, Box<ToolResult>> {
        let Some(limiter) = &self.inner.rules.limiter else { return Ok(CountedCall { counted: None }) };
        match limiter.admit(self.call.name(), self.counted_in()) {
            Ok(()) => Ok(CountedCall { counted: Some((limiter, self)) }),
            Err(exceeded) => Err(self.exceeded(read, exceeded).await),
        }
    }

    /// The conversation in which it is counted.
    pub(crate) fn counted_in(&self) -> Option<&str> {
        self.counts_for.as_deref().or(self.call.conversation_id())
    }

    /// Waits for its turn, where only so many calls run at a time.
    pub(crate) async fn enter(&self, read: &DecodedArguments) -> Result<Option<RunPermit>, Box<ToolResult>> {
        let Some(concurrency) = &self.inner.rules.concurrency else { return Ok(None) };
        match concurrency.enter().await {
            Ok(permit) => Ok(Some(permit)),
            Err(busy) => {
                self.note(read, JournalDecision::Busy).await?;
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
    async fn what_finds_no_place_does_not_count() {
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
        // TurnCall waits and is cancelled there, one finds no place to wait, one is dropped.
        let stop = CancellationToken::new();
        let mut waiting = Box::pin(call().cancel(stop.clone()));
        assert!(poll_once(&mut waiting).await.is_none());
        stop.cancel();
        assert_eq!(kind(&waiting.await), Some(ErrorKind::Cancelled));
        let mut dropped = Box::pin(tools.call(ToolCall::from_text("waits", "{}")));
        assert!(poll_once(&mut dropped).await.is_none());
        let busy = call().await;
        assert_eq!(kind(&busy), Some(ErrorKind::Busy));
        assert!(busy.error.unwrap().retry_after().is_some(), "programs are told when to come back");
        drop(dropped);
        let mut dropped = Box::pin(call());
        assert!(poll_once(&mut dropped).await.is_none());
        drop(dropped);

        go.notify_one();
        assert!(finished.await.unwrap().success);
        assert_eq!(kind(&call().await), None, "the first that runs");
        assert_eq!(kind(&call().await), Some(ErrorKind::RateLimited));
    }

    /// Polls once.
    async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        std::future::poll_fn(|context| match std::pin::Pin::new(&mut *future).poll(context) {
            std::task::Poll::Ready(done) => std::task::Poll::Ready(Some(done)),
            std::task::Poll::Pending => std::task::Poll::Ready(None),
        })
        .await
    }
}
