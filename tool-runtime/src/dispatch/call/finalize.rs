//! The end of a call: retry limits, shortening of long outputs, metadata, metrics and observers.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::time_budget::{WaitError, within};
use super::{Call, CallState};
use crate::ToolResult;
use crate::arguments::Repair;
use crate::output::Spill;

/// The time that a result waits for its long output to be stored. After that the storing continues in the background.
const SPILL_GRACE: Duration = Duration::from_secs(5);

impl Call<'_> {
    /// Ends the call with a result. A result that has to be stored first is returned once it is.
    #[inline]
    pub(super) fn finalize(
        &mut self,
        result: ToolResult,
        is_retry_counted: bool,
        context: &mut Context<'_>,
    ) -> Poll<ToolResult> {
        self.state = CallState::Done;
        if self.tools.inner.rules.touch_results {
            return self.limit_and_shorten(result, is_retry_counted, context);
        }
        Poll::Ready(self.complete(result))
    }

    /// Applies the retry limit, unless the guarded path has, and stores and shortens a long output.
    #[cold]
    fn limit_and_shorten(
        &mut self,
        result: ToolResult,
        is_retry_counted: bool,
        context: &mut Context<'_>,
    ) -> Poll<ToolResult> {
        let rules = &self.tools.inner.rules;
        let result = match &rules.retries {
            Some(retries) if !is_retry_counted => {
                let options = self.options.as_ref();
                let called = options.and_then(|options| options.called.as_deref());
                let counts_for = options.and_then(|options| options.counts_for.as_deref());
                let conversation = counts_for.or(self.call.conversation_id());
                retries.count(conversation, &self.call.name, called, result)
            }
            _ => result,
        };
        match &rules.spill {
            Some(spill) if spill.is_long(&result.output) => {
                let (conversation, id) = (self.call.conversation_id(), self.call.call_id());
                let (conversation, id) = (conversation.map(str::to_owned), id.map(str::to_owned));
                let shortened = shorten(result, spill.clone(), self.tools.result_reader(), conversation, id);
                self.state = CallState::Spilling(Box::pin(shortened));
                self.poll_spilling(context)
            }
            _ => Poll::Ready(self.complete(result)),
        }
    }

    #[cold]
    pub(super) fn poll_spilling(&mut self, context: &mut Context<'_>) -> Poll<ToolResult> {
        let CallState::Spilling(spilling) = &mut self.state else { return Poll::Pending };
        let result = ready!(spilling.as_mut().poll(context));
        self.state = CallState::Done;
        Poll::Ready(self.complete(result))
    }

    #[inline]
    fn complete(&mut self, result: ToolResult) -> ToolResult {
        #[cfg(feature = "metrics")]
        if let Some(metrics) = self.metrics.take() {
            metrics.end(&self.call.name, &result);
        }
        if self.options.is_none() { result } else { self.complete_with_options(result) }
    }

    /// Adds the repairs to the metadata, and reports the end of a call that was observed on the fast path.
    #[cold]
    #[inline(never)]
    fn complete_with_options(&mut self, mut result: ToolResult) -> ToolResult {
        let Some(options) = self.options.take() else { return result };
        if let Some(repaired) = options.repaired {
            result.metadata.insert("repairs", json!(repaired.repairs));
        }
        if let Some(alias) = options.alias {
            let called = options.called.as_deref().unwrap_or(&self.call.name);
            let of_arguments = result.metadata.get("repairs").and_then(Value::as_array).cloned().unwrap_or_default();
            let repairs: Vec<Value> =
                [json!(Repair::tool_alias(&alias, called))].into_iter().chain(of_arguments).collect();
            result.metadata.insert("repairs", repairs);
        }
        if let Some(observer) = options.observer {
            observer.finish(&result);
        }
        result
    }
}

/// Shortens a long output and stores the whole of it, on a thread that may block.
///
/// A model reads the output of a failure, and a user interface its error, so both are shortened.
pub(crate) async fn shorten(
    mut result: ToolResult,
    spill: Spill,
    reader: Option<Arc<str>>,
    conversation: Option<String>,
    call_id: Option<String>,
) -> ToolResult {
    let text = Arc::new(std::mem::take(&mut result.output));
    let store = {
        let (spill, text) = (spill.clone(), text.clone());
        move || spill.keep(conversation.as_deref(), call_id.as_deref(), &text)
    };
    let handle = match Handle::try_current() {
        Ok(runtime) => {
            let mut storing = runtime.spawn_blocking(store);
            let stored = match within(SPILL_GRACE, &mut storing).await {
                Ok(stored) => stored,
                Err(WaitError::NoTimer) => storing.await,
                Err(WaitError::TimedOut) => {
                    tracing::warn!(bytes = text.len(), "a long output could not be stored in time");
                    Ok(None)
                }
            };
            // The task is lost only when the runtime shuts down. Nothing reads the rest then.
            stored.unwrap_or_default()
        }
        Err(_) => store(),
    };
    let (output, spilled) = spill.cut(&text, handle, reader.as_deref());
    result.output = output;
    if let Some(error) = &mut result.error {
        error.message.clone_from(&result.output);
    }
    result.metadata.insert("spilled", json!(spilled));
    result
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Mutex, mpsc};
    use std::thread::{self, ThreadId};

    use super::*;
    use crate::Dispatcher;
    use crate::journal::MemoryJournal;
    use crate::output::{SpillKey, SpillStore};
    use crate::{RuntimeTool, ToolCall};

    /// A store that records the threads on which it is called.
    #[derive(Clone, Default)]
    struct ThreadRecorder(Arc<Mutex<Vec<ThreadId>>>);

    impl SpillStore for ThreadRecorder {
        fn put(&self, _: SpillKey<'_>, _: &str) -> io::Result<()> {
            self.0.lock().unwrap().push(thread::current().id());
            Ok(())
        }

        fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
            self.0.lock().unwrap().push(thread::current().id());
            Ok(None)
        }
    }

    fn tools(store: &ThreadRecorder) -> Dispatcher {
        let long = RuntimeTool::new("long", "", |()| async { "x".repeat(5_000) });
        let tools = Dispatcher::builder().tool(long).spill(Spill::over(1_000).store(store.clone()));
        tools.journal(MemoryJournal::new()).build().unwrap()
    }

    /// A store that blocks until it receives a message.
    struct BlockedStore(Mutex<mpsc::Receiver<()>>);

    impl SpillStore for BlockedStore {
        fn put(&self, _: SpillKey<'_>, _: &str) -> io::Result<()> {
            self.0.lock().unwrap().recv().map_err(io::Error::other)
        }

        fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
            Ok(None)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_does_not_wait_forever_for_the_store() {
        let (resume, receiver) = mpsc::channel();
        let long = RuntimeTool::new("long", "", |()| async { "x".repeat(5_000) });
        let tools =
            Dispatcher::builder().tool(long).spill(Spill::over(1_000).store(BlockedStore(Mutex::new(receiver))));
        let tools = tools.build().unwrap();
        let call = tokio::spawn(async move { tools.call(ToolCall::from_text("long", "{}")).await });
        // Paused time does not advance by itself while a thread blocks.
        for _ in 0..60 {
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        let has_result = call.is_finished();
        resume.send(()).unwrap();
        let result = call.await.unwrap();
        assert!(has_result && result.success && result.output.contains("They could not be kept"), "{result:?}");
    }

    #[tokio::test]
    async fn the_store_does_not_block_runtime_threads() {
        let store = ThreadRecorder::default();
        let tools = tools(&store);
        let call = || ToolCall::from_text("long", "{}").conversation("c").id("1");
        assert!(tools.call(call()).await.success);
        assert!(tools.call_all([call()]).await[0].success);
        assert!(tools.recall("c", "1").await.unwrap().is_some());
        let threads = store.0.lock().unwrap();
        assert_eq!(threads.len(), 6, "each call looks for the result and stores it");
        assert!(!threads.contains(&thread::current().id()));
    }
}
