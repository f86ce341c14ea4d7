//! A call whose handler has started: it runs, waits, is stopped, and what was made for it is finished.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use tracing::Instrument;

use crate::dispatch::BoundTool;
use crate::dispatch::call::messages::{answered, cancelled, no_runtime, noted, outcome_of, too_late, unstoppable};
use crate::dispatch::call::time_budget::{TimeBudget, timer};
use crate::handler_future::HandlerFuture;
use crate::handler_result::{HandlerFailure, HandlerOutput, HandlerResult};
use crate::inject::{BlockingHandler, BlockingResult, Notes, ScopeInner, StopOutcome, blocking_answer};
use crate::panics::{self, drop_quietly};
use crate::{CallOutcome, ErrorKind, ToolResult};

/// How long a rollback may take after its call was stopped. It goes on in the background after that.
const FINISH_GRACE: Duration = Duration::from_secs(5);

/// The result of a handler that has started. Dropped, it stops the handler and finishes in the background.
pub(crate) struct RunningHandler {
    tool: Arc<BoundTool>,
    work: HandlerWork,
    /// Whether the work was polled in this very poll and waits.
    is_waiting: bool,
    budget: TimeBudget,
    timer: Option<Pin<Box<Sleep>>>,
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Why it is being stopped, while its handler may still say what became of it.
    stopping: Option<Box<HandlerFailure>>,
    /// What the handler has said besides its output.
    notes: Option<Notes>,
}

pub(crate) enum HandlerWork {
    /// An `async` handler that needs nothing made.
    Handler(HandlerFuture),
    /// A blocking handler that needs nothing made.
    Blocking { blocking: BlockingHandler, answer: BlockingResult },
    /// A handler in a scope.
    Scoped { run: Pin<Box<dyn Future<Output = HandlerResult> + Send>>, scope: Arc<ScopeInner>, runtime: Handle },
    /// The handler is over, its scope is being finished by a task of its own.
    Finishing { finished: JoinHandle<Result<(), String>>, answer: HandlerResult },
    /// Nothing is left to do.
    Over,
}

impl HandlerWork {
    /// Returns the time until the [`Deadline`](crate::inject::Deadline) that the handler was told, if it can ask for one.
    fn time_left(&self) -> Option<Duration> {
        match self {
            Self::Scoped { scope, .. } => scope.deadline().remaining(),
            _ => None,
        }
    }
}

impl RunningHandler {
    /// A handler that was polled on its way in is not polled again at once.
    pub(crate) fn new(
        tool: Arc<BoundTool>,
        work: HandlerWork,
        budget: TimeBudget,
        cancel: Option<CancellationToken>,
    ) -> Self {
        let is_waiting = matches!(work, HandlerWork::Handler(_));
        let cancelled = cancel.map(|token| Box::pin(token.cancelled_owned()));
        Self { tool, work, is_waiting, budget, timer: None, cancelled, stopping: None, notes: None }
    }

    /// Goes on with the work; nothing while it waits.
    fn poll_work(&mut self, context: &mut Context<'_>) -> Option<HandlerResult> {
        match &mut self.work {
            HandlerWork::Handler(run) => poll_handler(run, context),
            HandlerWork::Scoped { run, .. } => poll_handler(run, context),
            HandlerWork::Blocking { answer, .. } => match Pin::new(answer).poll(context) {
                Poll::Pending => None,
                Poll::Ready(answer) => Some(blocking_answer(answer)),
            },
            HandlerWork::Finishing { finished, answer } => match Pin::new(finished).poll(context) {
                Poll::Pending => None,
                Poll::Ready(finished) => {
                    let answer = std::mem::replace(answer, Ok(HandlerOutput::default()));
                    self.work = HandlerWork::Over;
                    Some(ended(answer, finished))
                }
            },
            HandlerWork::Over => Some(Err(HandlerFailure::new(ErrorKind::Failed, "the call is over"))),
        }
    }

    /// The handler is over: its answer, or nothing if its scope has to be finished first.
    fn end(&mut self, answer: HandlerResult, outcome: CallOutcome, is_held: bool) -> Option<HandlerResult> {
        match std::mem::replace(&mut self.work, HandlerWork::Over) {
            HandlerWork::Scoped { run, scope, runtime } => {
                drop_quietly(run);
                self.notes = scope.notes();
                if scope.close_if_empty() {
                    return Some(answer);
                }
                let finished = runtime.spawn(scope.finish(outcome).in_current_span());
                if is_held {
                    return Some(answer);
                }
                self.work = HandlerWork::Finishing { finished, answer };
                None
            }
            over => {
                drop_quietly(over);
                Some(answer)
            }
        }
    }

    /// Stops the handler. TurnCall that blocks its thread cannot be stopped, and the answer says so.
    fn stop(&mut self, failure: Box<HandlerFailure>) -> Option<HandlerResult> {
        self.cancelled = None;
        self.timer = None;
        if let HandlerWork::Finishing { answer, .. } = &mut self.work {
            // The handler's answer stands, but what it wrote may not: this, too, cannot be known.
            let answer = std::mem::replace(answer, Ok(HandlerOutput::default()));
            self.work = HandlerWork::Over;
            return Some(answer.and(Err(unstoppable(failure))));
        }
        if let Some(grace) = self.tool.stop_grace() {
            return self.settle(failure, grace);
        }
        let is_held = match self.revoke() {
            StopOutcome::Stopped => false,
            StopOutcome::StillRuns => true,
            StopOutcome::HasEnded => {
                // It was faster, and its answer is on its way.
                self.timer = timer(FINISH_GRACE);
                return None;
            }
        };
        let outcome = outcome_of(&Err(HandlerFailure::new(failure.kind, "")));
        let ended = self.end(Err(if is_held { unstoppable(failure) } else { failure }), outcome, is_held);
        if ended.is_none() {
            // The rollback has its own time. Without a timer it has all the time.
            self.timer = timer(FINISH_GRACE);
        }
        ended
    }

    /// Tells a handler whose work goes on without it to stop that. What it says then is the answer.
    fn settle(&mut self, failure: Box<HandlerFailure>, grace: Duration) -> Option<HandlerResult> {
        if self.stopping.is_none() {
            self.revoke();
            self.timer = timer(grace);
            self.stopping = Some(failure);
            return None;
        }
        let failure = self.stopping.take().unwrap_or(failure);
        let outcome = outcome_of(&Err(HandlerFailure::new(failure.kind, "")));
        let ended = self.end(Err(unstoppable(failure)), outcome, false);
        self.timer = timer(FINISH_GRACE);
        ended
    }

    fn revoke(&self) -> StopOutcome {
        match &self.work {
            HandlerWork::Blocking { blocking, .. } => blocking.revoke(),
            HandlerWork::Scoped { scope, .. } => scope.revoke(),
            HandlerWork::Handler(_) | HandlerWork::Finishing { .. } | HandlerWork::Over => StopOutcome::Stopped,
        }
    }

    /// Waits for the deadline. The timer is armed only once the handler has to wait.
    fn poll_timer(&mut self, context: &mut Context<'_>) -> Poll<Box<HandlerFailure>> {
        let timer = match (&mut self.timer, self.budget.left) {
            (Some(timer), _) => timer,
            (None, None) => return Poll::Pending,
            (None, Some(left)) => match timer(self.work.time_left().unwrap_or(left)) {
                Some(timer) => self.timer.insert(timer),
                None => {
                    self.budget.left = None;
                    return Poll::Ready(no_runtime());
                }
            },
        };
        timer.as_mut().poll(context).map(|()| too_late(self.budget.limit.unwrap_or(FINISH_GRACE)))
    }

    /// Nobody waits for the answer any more: stops the handler and finishes in the background what was made for it.
    /// What is given back says what became of it; it need not be awaited.
    pub(crate) fn abandon(&mut self) -> impl Future<Output = ToolResult> + Send + use<> {
        // TurnCall that has ended, and whose answer nobody reads, has had its effect all the same.
        let is_held = !matches!(self.revoke(), StopOutcome::Stopped) || self.tool.stop_grace().is_some();
        let (answer, finished) = match std::mem::replace(&mut self.work, HandlerWork::Over) {
            HandlerWork::Scoped { run, scope, runtime } => {
                drop_quietly(run);
                self.notes = scope.notes();
                let finished = runtime.spawn(scope.finish(CallOutcome::Cancelled).in_current_span());
                (None, (!is_held).then_some(finished))
            }
            // The handler is over, and its answer stands: what is lost is only the caller.
            HandlerWork::Finishing { finished, answer } => (Some(answer), Some(finished)),
            other => {
                drop_quietly(other);
                (None, None)
            }
        };
        let (tool, notes) = (self.tool.clone(), self.notes.take());
        async move {
            let stopped = || Err(if is_held { unstoppable(cancelled()) } else { cancelled() });
            let answer = answer.unwrap_or_else(stopped);
            let answer = match finished {
                Some(finished) => ended(answer, finished.await),
                None => answer,
            };
            noted(answered(&tool, answer), notes)
        }
    }
}

impl Future for RunningHandler {
    type Output = ToolResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ToolResult> {
        let this = self.get_mut();
        loop {
            if !std::mem::take(&mut this.is_waiting)
                && let Some(answer) = this.poll_work(context)
            {
                let outcome = outcome_of(&answer);
                match this.end(answer, outcome, false) {
                    Some(answer) => return Poll::Ready(noted(answered(&this.tool, answer), this.notes.take())),
                    None => continue,
                }
            }
            let failure = if this.cancelled.as_mut().is_some_and(|waiting| waiting.as_mut().poll(context).is_ready()) {
                cancelled()
            } else {
                std::task::ready!(this.poll_timer(context))
            };
            if let Some(answer) = this.stop(failure) {
                return Poll::Ready(noted(answered(&this.tool, answer), this.notes.take()));
            }
        }
    }
}

impl Drop for RunningHandler {
    fn drop(&mut self) {
        drop(self.abandon());
    }
}

/// Goes on with a handler; a panic is its answer.
fn poll_handler(
    run: &mut (impl Future<Output = HandlerResult> + Unpin),
    context: &mut Context<'_>,
) -> Option<HandlerResult> {
    match panics::catch(|| Pin::new(run).poll(context)) {
        Ok(Poll::Pending) => None,
        Ok(Poll::Ready(answer)) => Some(answer),
        Err(panic) => Some(Err(HandlerFailure::new(ErrorKind::Panicked, panic))),
    }
}

/// The answer of a handler whose scope is finished: a commit that fails makes it a failure.
fn ended(answer: HandlerResult, finished: Result<Result<(), String>, JoinError>) -> HandlerResult {
    let finished = finished.unwrap_or_else(|error| Err(format!("its task ended: {error}")));
    answer.and_then(|output| match finished {
        Ok(()) => Ok(output),
        Err(error) => Err(HandlerFailure::new(ErrorKind::Finish, error)),
    })
}
