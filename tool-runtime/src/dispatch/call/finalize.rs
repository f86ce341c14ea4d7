//! The last touch of a result, and who is told of calls that never came to their handler.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Handle;

use crate::dispatch::call::observe::CallObserver;
use crate::dispatch::call::time_budget::{WaitError, within};
use crate::dispatch::{BoundTool, Call, Dispatcher};
use crate::output::{READ_RESULT, Spill};
use crate::{ErrorKind, ToolError, ToolResult};

/// How long an answer waits for its long result to be kept. That goes on in the background then.
const KEEP_GRACE: Duration = Duration::from_secs(5);

/// A long result that is being kept and shortened.
pub(crate) type Shortening = Pin<Box<dyn Future<Output = ToolResult> + Send>>;

impl Call<'_> {
    /// Counts the call, and says what was repaired.
    #[inline]
    pub(crate) fn dressed(&mut self, result: ToolResult) -> ToolResult {
        #[cfg(feature = "metrics")]
        if let Some(metrics) = self.metrics.take() {
            metrics.end(&self.call.name, &result);
        }
        if self.rare.is_none() { result } else { self.with_rare(result) }
    }

    /// Returns the result, or a future that keeps the whole of a long one and shortens it.
    pub(crate) fn keep(&self, result: ToolResult) -> Result<ToolResult, Shortening> {
        match &self.tools.inner.rules.spill {
            Some(spill) if spill.is_long(&result.output) => {
                let (conversation, id) = (self.call.conversation_id(), self.call.call_id());
                let (conversation, id) = (conversation.map(str::to_owned), id.map(str::to_owned));
                Err(Box::pin(shortened(result, spill.clone(), self.tools.result_reader(), conversation, id)))
            }
            _ => Ok(result),
        }
    }

    /// Ends tries.
    pub(crate) fn judged(&self, result: ToolResult) -> ToolResult {
        match &self.tools.inner.rules.tries {
            None => result,
            Some(tries) => {
                let rare = self.rare.as_ref();
                let called = rare.and_then(|rare| rare.called.as_deref());
                let counts_for = rare.and_then(|rare| rare.counts_for.as_deref());
                tries.judge(counts_for.or(self.call.conversation_id()), &self.call.name, called, result)
            }
        }
    }

    /// Says in the result what was mended, and tells whoever watches.
    #[cold]
    #[inline(never)]
    fn with_rare(&mut self, mut result: ToolResult) -> ToolResult {
        let Some(rare) = self.rare.take() else { return result };
        if let Some(repaired) = rare.repaired {
            result.metadata.insert("repairs", json!(repaired.repairs));
        }
        if let Some(mut told) = rare.told {
            told.ends(&result);
        }
        result
    }

    /// Tells of a call that is answered before anything else.
    #[cold]
    #[inline(never)]
    pub(crate) fn at_once(&self, tool: Option<&BoundTool>, result: ToolResult) -> ToolResult {
        CallObserver::at_once(&self.tools.inner.rules.events, &self.call, tool, &result);
        result.not_started()
    }

    /// Tells of a call that takes the plain way.
    pub(crate) fn watch_plainly(&mut self, tool: &BoundTool, mut told: CallObserver) {
        told.starts_with_text(&self.call.arguments, tool);
        told.listen(&mut self.with);
        self.rare().told = Some(told);
    }

    #[cold]
    pub(crate) fn too_long(&self) -> ToolError {
        let message = format!(
            "Invalid arguments for `{}`: {} bytes are more than the limit of {}. Send less.",
            self.call.name,
            self.call.arguments.len(),
            self.tools.inner.limits.argument_bytes
        );
        ToolError::new(ErrorKind::InvalidArguments, message)
    }
}

impl Dispatcher {
    /// Returns the name by which the tool that reads long results is called here, if it is offered.
    pub(crate) fn result_reader(&self) -> Option<Arc<str>> {
        self.with_offer(|offer| {
            let reader = offer.tools.values().find(|tool| &*tool.own_name == READ_RESULT);
            reader.map(|tool| tool.name.clone())
        })
    }
}

/// Shortens a long result and keeps the whole of it, on a thread that may block.
///
/// A model reads the output of a failure, and a user interface reads its error: both are shortened.
pub(crate) async fn shortened(
    mut result: ToolResult,
    spill: Spill,
    reader: Option<Arc<str>>,
    conversation: Option<String>,
    call_id: Option<String>,
) -> ToolResult {
    let text = Arc::new(std::mem::take(&mut result.output));
    let keep = {
        let (spill, text) = (spill.clone(), text.clone());
        move || spill.keep(conversation.as_deref(), call_id.as_deref(), &text)
    };
    let handle = match Handle::try_current() {
        Ok(runtime) => {
            let mut keeping = runtime.spawn_blocking(keep);
            let kept = match within(KEEP_GRACE, &mut keeping).await {
                Ok(kept) => kept,
                Err(WaitError::NoTimer) => keeping.await,
                Err(WaitError::TooLate) => {
                    tracing::warn!(bytes = text.len(), "a long result could not be kept in time");
                    Ok(None)
                }
            };
            // Only the end of the runtime takes the task away: then there is nobody left to read the rest.
            kept.unwrap_or_default()
        }
        Err(_) => keep(),
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
    use crate::journal::MemoryJournal;
    use crate::output::{SpillKey, SpillStore};
    use crate::{RuntimeTool, ToolCall};

    /// Notes the threads on which it is called.
    #[derive(Clone, Default)]
    struct Noting(Arc<Mutex<Vec<ThreadId>>>);

    impl SpillStore for Noting {
        fn put(&self, _: SpillKey<'_>, _: &str) -> io::Result<()> {
            self.0.lock().unwrap().push(thread::current().id());
            Ok(())
        }

        fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
            self.0.lock().unwrap().push(thread::current().id());
            Ok(None)
        }
    }

    fn tools(store: &Noting) -> Dispatcher {
        let long = RuntimeTool::new("long", "", |()| async { "x".repeat(5_000) });
        let tools = Dispatcher::builder().tool(long).spill(Spill::over(1_000).store(store.clone()));
        tools.journal(MemoryJournal::new()).build().unwrap()
    }

    /// Keeps nothing until it is told to.
    struct Stuck(Mutex<mpsc::Receiver<()>>);

    impl SpillStore for Stuck {
        fn put(&self, _: SpillKey<'_>, _: &str) -> io::Result<()> {
            self.0.lock().unwrap().recv().map_err(io::Error::other)
        }

        fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
            Ok(None)
        }
    }

    /// As where all threads that may block do.
    #[tokio::test(start_paused = true)]
    async fn an_answer_does_not_wait_for_ever_for_a_store() {
        let (go_on, told) = mpsc::channel();
        let long = RuntimeTool::new("long", "", |()| async { "x".repeat(5_000) });
        let tools = Dispatcher::builder().tool(long).spill(Spill::over(1_000).store(Stuck(Mutex::new(told))));
        let tools = tools.build().unwrap();
        let call = tokio::spawn(async move { tools.call(ToolCall::from_text("long", "{}")).await });
        // While a thread blocks, time goes on only by hand.
        for _ in 0..60 {
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        let is_answered = call.is_finished();
        go_on.send(()).unwrap();
        let result = call.await.unwrap();
        assert!(is_answered && result.success && result.output.contains("They could not be kept"), "{result:?}");
    }

    #[tokio::test]
    async fn a_store_does_not_block_the_threads_of_the_runtime() {
        let store = Noting::default();
        let tools = tools(&store);
        let call = || ToolCall::from_text("long", "{}").conversation("c").id("1");
        assert!(tools.call(call()).await.success);
        assert!(tools.call_all([call()]).await[0].success);
        assert!(tools.recall("c", "1").await.unwrap().is_some());
        let threads = store.0.lock().unwrap();
        assert_eq!(threads.len(), 6, "each looks for the result and keeps it");
        assert!(!threads.contains(&thread::current().id()));
    }
}
