//! The calls of one turn, side by side.

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::seat::{Seat, Seats};
use super::{Call, Dispatcher};
use crate::{ErrorKind, ToolCall, ToolError, ToolResult, guard};

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

    /// How many calls run at a time; the others wait. One that somebody is asked about does not count meanwhile.
    pub fn concurrency(mut self, at_a_time: NonZeroUsize) -> Self {
        self.at_a_time = at_a_time.get();
        self
    }

    /// Tells each call more, such as [`Call::with`] a value or a [`Call::timeout`], which begins when it is the call's
    /// turn. If this panics, the call does not run.
    pub fn each(mut self, prepare: impl for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync + 'static) -> Self {
        self.prepare = Some(Arc::new(prepare));
        self
    }

    async fn run(self) -> Vec<ToolResult> {
        let alone = |call: &ToolCall<'_>| self.tools.definition(call.name()).is_some_and(|tool| tool.sequential);
        let seats = Seats::new(self.at_a_time, self.calls.iter().map(alone));
        let stop = CancellationToken::new();
        let calls = self.calls.into_iter().enumerate().map(|(index, call)| {
            let (tools, prepare, stop) = (self.tools.clone(), self.prepare.clone(), stop.clone());
            One { tools, call, prepare, seat: seats.seat(index), stop }
        });
        if Handle::try_current().is_err() {
            // What needs no runtime runs, and the rest says that there is none.
            let mut results = Vec::new();
            for call in calls {
                results.push(call.run().await);
            }
            return results;
        }
        let mut results: Vec<Option<ToolResult>> = Vec::new();
        let mut running = JoinSet::new();
        for (index, call) in calls.enumerate() {
            results.push(None);
            running.spawn(async move { (index, call.run().await) });
        }
        while let Some(ended) = running.join_next().await {
            if let Ok((index, result)) = ended {
                results[index] = Some(result);
            }
        }
        results.into_iter().map(|result| result.unwrap_or_else(lost)).collect()
    }
}

/// One call of a turn.
struct One {
    tools: Dispatcher,
    call: ToolCall<'static>,
    prepare: Option<Prepare>,
    seat: Seat,
    /// Cancelled when somebody stops the turn.
    stop: CancellationToken,
}

impl One {
    async fn run(self) -> ToolResult {
        let Self { tools, call, prepare, seat, stop } = self;
        let name = call.name().to_owned();
        let (mut kept, mut handed_on) = (Some(seat), None);
        if tools.may_ask(&name) {
            // It takes its place once somebody has agreed.
            handed_on = kept.take();
        } else if let Some(seat) = &kept
            && stop.run_until_cancelled(seat.enter()).await.is_none()
        {
            return aborted(&name);
        }
        if stop.is_cancelled() {
            return aborted(&name);
        }
        let call = tools.call(call).seat(handed_on);
        let prepared = guard::catch(|| match prepare {
            Some(prepare) => prepare(call),
            None => call,
        });
        let mut call = match prepared {
            Ok(call) => call,
            Err(panic) => return unprepared(&name, &panic),
        };
        let own = stop.child_token();
        let result = match call.cancel.replace(own.clone()) {
            None => call.await,
            Some(token) => match token.run_until_cancelled(&mut call).await {
                Some(result) => result,
                None => {
                    own.cancel();
                    call.await
                }
            },
        };
        // Whoever aborts one call stops all others of its turn.
        if result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Aborted) {
            stop.cancel();
        }
        result
    }
}

fn aborted(tool: &str) -> ToolResult {
    let message = format!("`{tool}` was not run: somebody has stopped everything.");
    ToolResult::failure(ToolError::new(ErrorKind::Aborted, message))
}

fn unprepared(tool: &str, panic: &str) -> ToolResult {
    let message = format!("`{tool}` was not run: preparing it panicked: {panic}");
    ToolResult::failure(ToolError::new(ErrorKind::Panicked, message))
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
