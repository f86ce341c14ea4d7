//! The calls of one turn, side by side.

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Call, Dispatcher};
use crate::{ErrorKind, ToolCall, ToolError, ToolResult};

/// How many calls of a turn run at a time unless it is said.
const AT_A_TIME: usize = 16;

type Prepare = Arc<dyn for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync>;

/// The calls of one turn; see [`Dispatcher::call_all`]. Await it.
#[must_use = "a turn does nothing unless it is awaited"]
pub struct Turn {
    tools: Dispatcher,
    calls: Vec<ToolCall<'static>>,
    at_a_time: usize,
    prepare: Option<Prepare>,
}

impl Turn {
    pub(super) fn new(tools: &Dispatcher, calls: Vec<ToolCall<'static>>) -> Self {
        Self { tools: tools.clone(), calls, at_a_time: AT_A_TIME, prepare: None }
    }

    /// How many calls run at a time; the others wait.
    pub fn concurrency(mut self, at_a_time: NonZeroUsize) -> Self {
        self.at_a_time = at_a_time.get();
        self
    }

    /// Tells each call more, such as [`Call::with`] a value or a [`Call::timeout`].
    pub fn each(mut self, prepare: impl for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync + 'static) -> Self {
        self.prepare = Some(Arc::new(prepare));
        self
    }

    async fn run(self) -> Vec<ToolResult> {
        let mut results: Vec<Option<ToolResult>> = Vec::new();
        results.resize_with(self.calls.len(), || None);
        let mut running: JoinSet<(usize, ToolResult)> = JoinSet::new();
        let stop = CancellationToken::new();
        for (index, call) in self.calls.into_iter().enumerate() {
            let alone = self.tools.definition(call.name()).is_some_and(|tool| tool.sequential);
            let room = if alone { 0 } else { self.at_a_time - 1 };
            while running.len() > room {
                keep(&mut results, running.join_next().await, &stop);
            }
            if stop.is_cancelled() {
                results[index] = Some(aborted(call.name()));
                continue;
            }
            let (tools, prepare, stop_this) = (self.tools.clone(), self.prepare.clone(), stop.clone());
            running.spawn(async move {
                let call = tools.call(call).cancel(stop_this);
                let call = match prepare {
                    Some(prepare) => prepare(call),
                    None => call,
                };
                (index, call.await)
            });
            if alone {
                keep(&mut results, running.join_next().await, &stop);
            }
        }
        while !running.is_empty() {
            keep(&mut results, running.join_next().await, &stop);
        }
        results.into_iter().map(|result| result.unwrap_or_else(lost)).collect()
    }
}

/// Keeps a result. Whoever aborts one call stops all others of its turn.
fn keep(
    results: &mut [Option<ToolResult>],
    ended: Option<Result<(usize, ToolResult), tokio::task::JoinError>>,
    stop: &CancellationToken,
) {
    if let Some(Ok((index, result))) = ended {
        if result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Aborted) {
            stop.cancel();
        }
        results[index] = Some(result);
    }
}

fn aborted(tool: &str) -> ToolResult {
    let message = format!("`{tool}` was not run: somebody has stopped everything.");
    ToolResult::failure(ToolError::new(ErrorKind::Aborted, message))
}

/// A call never panics; only the end of the runtime takes its task away.
fn lost() -> ToolResult {
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, "the call was lost when its runtime ended"))
}

impl IntoFuture for Turn {
    type Output = Vec<ToolResult>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
