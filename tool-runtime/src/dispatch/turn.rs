//! The calls of one turn, side by side.

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;

use tokio::task::JoinSet;

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
        for (index, call) in self.calls.into_iter().enumerate() {
            let alone = self.tools.definition(call.name()).is_some_and(|tool| tool.sequential);
            let room = if alone { 0 } else { self.at_a_time - 1 };
            while running.len() > room {
                keep(&mut results, running.join_next().await);
            }
            let (tools, prepare) = (self.tools.clone(), self.prepare.clone());
            running.spawn(async move {
                let call = tools.call(call);
                let call = match prepare {
                    Some(prepare) => prepare(call),
                    None => call,
                };
                (index, call.await)
            });
            if alone {
                keep(&mut results, running.join_next().await);
            }
        }
        while !running.is_empty() {
            keep(&mut results, running.join_next().await);
        }
        results.into_iter().map(|result| result.unwrap_or_else(lost)).collect()
    }
}

fn keep(results: &mut [Option<ToolResult>], ended: Option<Result<(usize, ToolResult), tokio::task::JoinError>>) {
    if let Some(Ok((index, result))) = ended {
        results[index] = Some(result);
    }
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
