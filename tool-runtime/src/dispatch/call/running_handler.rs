//! A handler that has started: polling, stopping, and finishing its scope.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracing::Instrument;

use super::messages::{cancelled, no_runtime, timed_out, unstoppable};
use super::time_budget::{TimeBudget, timer};
use crate::call_stage::CallStage;
use crate::dispatch::build::problem::short_type;
use crate::dispatch::{BoundTool, InstanceSource, ValueSource};
use crate::handler_failure::{ErrorDescriber, HandlerFailure};
use crate::handler_future::HandlerFuture;
use crate::handler_result::{HandlerOutput, HandlerResult, into_tool_result};
use crate::inject::{
    BlockingHandler, BlockingResult, FinishResult, HandlerInputs, InjectError, InjectedValue, Injection, InjectionMode,
    InstanceInput, Notes, Scope, ScopeInner, StopOutcome, blocking_result,
};
use crate::panics::{self, CatchPanic, drop_quietly};
use crate::shim::{BuiltInstance, HandlerStep, InstanceConstructor, PreparedHandler};
use crate::{CallOutcome, ErrorKind, ToolResult};

/// The time by which a rollback may delay the result of a stopped call. After that it continues in the background.
const FINISH_GRACE: Duration = Duration::from_secs(5);

/// The future of a started handler. Dropping it stops the handler and finishes its scope in the background.
pub(crate) struct RunningHandler {
    tool: Arc<BoundTool>,
    work: HandlerWork,
    /// Set while the handler was already polled in the current poll, and waits.
    is_waiting: bool,
    budget: TimeBudget,
    timer: Option<Pin<Box<Sleep>>>,
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// The reason for stopping a handler that may still report its outcome.
    stopping: Option<Box<HandlerFailure>>,
    /// The handler's notes, once it is over.
    notes: Option<Notes>,
    /// Changes the messages of failures.
    describe: Option<ErrorDescriber>,
}

pub(crate) enum HandlerWork {
    /// An `async` handler without a scope.
    Handler(HandlerFuture),
    /// A blocking handler without a scope.
    Blocking {
        blocking: BlockingHandler,
        result: BlockingResult,
    },
    /// A handler with a scope.
    Scoped {
        run: Pin<Box<dyn Future<Output = HandlerResult> + Send>>,
        scope: Arc<ScopeInner>,
        runtime: Handle,
    },
    /// The handler is over, and a task finishes its scope.
    Finishing {
        finished: JoinHandle<FinishResult>,
        result: HandlerResult,
    },
    Over,
}

impl HandlerWork {
    /// Returns the time until the [`Deadline`](crate::inject::Deadline) that a scoped handler sees.
    fn time_left(&self) -> Option<Duration> {
        match self {
            Self::Scoped { scope, .. } => scope.deadline().remaining(),
            _ => None,
        }
    }
}

impl RunningHandler {
    /// Wraps work that was started. An `async` handler without a scope was polled before, and is not polled again at
    /// once.
    pub(crate) fn new(
        tool: Arc<BoundTool>,
        work: HandlerWork,
        budget: TimeBudget,
        cancel: Option<CancellationToken>,
        describe: Option<ErrorDescriber>,
    ) -> Self {
        let is_waiting = matches!(work, HandlerWork::Handler(_));
        let cancelled = cancel.map(|token| Box::pin(token.cancelled_owned()));
        Self { tool, work, is_waiting, budget, timer: None, cancelled, stopping: None, notes: None, describe }
    }

    /// Polls the work. Returns `None` while it waits.
    fn poll_work(&mut self, context: &mut Context<'_>) -> Option<HandlerResult> {
        match &mut self.work {
            HandlerWork::Handler(run) => poll_handler(run, context),
            HandlerWork::Scoped { run, .. } => poll_handler(run, context),
            HandlerWork::Blocking { result, .. } => match Pin::new(result).poll(context) {
                Poll::Pending => None,
                Poll::Ready(result) => Some(blocking_result(result)),
            },
            HandlerWork::Finishing { finished, result } => match Pin::new(finished).poll(context) {
                Poll::Pending => None,
                Poll::Ready(finished) => {
                    let result = std::mem::replace(result, Ok(HandlerOutput::default()));
                    self.work = HandlerWork::Over;
                    Some(after_finish(result, finished))
                }
            },
            HandlerWork::Over => Some(Err(HandlerFailure::new(ErrorKind::Failed, "the call is over"))),
        }
    }

    /// Ends the handler. Returns its result, or `None` if its scope has to be finished first.
    fn end(&mut self, result: HandlerResult, outcome: CallOutcome, still_runs: bool) -> Option<HandlerResult> {
        match std::mem::replace(&mut self.work, HandlerWork::Over) {
            HandlerWork::Scoped { run, scope, runtime } => {
                drop_quietly(run);
                self.notes = scope.notes();
                if scope.close_if_empty() {
                    return Some(result);
                }
                let finished = runtime.spawn(scope.finish(outcome).in_current_span());
                if still_runs {
                    return Some(result);
                }
                self.work = HandlerWork::Finishing { finished, result };
                None
            }
            over => {
                drop_quietly(over);
                Some(result)
            }
        }
    }

    /// Stops the handler. A blocking handler cannot be stopped, and its result says so.
    fn stop(&mut self, failure: Box<HandlerFailure>) -> Option<HandlerResult> {
        self.cancelled = None;
        self.timer = None;
        if let HandlerWork::Finishing { result, .. } = &mut self.work {
            // The handler has returned, but its commit may fail, so that the outcome is unknown.
            let result = std::mem::replace(result, Ok(HandlerOutput::default()));
            self.work = HandlerWork::Over;
            return Some(result.and(Err(unstoppable(failure))));
        }
        if let Some(grace) = self.tool.stop_grace() {
            return self.wait_for_outcome(failure, grace);
        }
        let still_runs = match self.revoke() {
            StopOutcome::Stopped => false,
            StopOutcome::StillRuns => true,
            StopOutcome::HasEnded => {
                // The handler was faster, and its result is about to arrive.
                self.timer = timer(FINISH_GRACE);
                return None;
            }
        };
        let outcome = CallOutcome::from_failure(failure.kind);
        let ended = self.end(Err(if still_runs { unstoppable(failure) } else { failure }), outcome, still_runs);
        if ended.is_none() {
            // The rollback has a time limit of its own. Without a timer it has none.
            self.timer = timer(FINISH_GRACE);
        }
        ended
    }

    /// Tells a handler whose work happens elsewhere to stop, and gives it some time to report the outcome.
    fn wait_for_outcome(&mut self, failure: Box<HandlerFailure>, grace: Duration) -> Option<HandlerResult> {
        if self.stopping.is_none() {
            self.revoke();
            self.timer = timer(grace);
            self.stopping = Some(failure);
            return None;
        }
        let failure = self.stopping.take().unwrap_or(failure);
        let outcome = CallOutcome::from_failure(failure.kind);
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

    /// Waits for the timeout. The timer is armed only once the handler has to wait.
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
        timer.as_mut().poll(context).map(|()| timed_out(self.budget.limit.unwrap_or(FINISH_GRACE)))
    }

    /// Stops the handler of a dropped call and finishes its scope in the background. The returned future yields the
    /// outcome, and need not be awaited.
    pub(crate) fn abandon(&mut self) -> impl Future<Output = ToolResult> + Send + use<> {
        // A handler that has ended has taken effect, although its result is not read.
        let still_runs = !matches!(self.revoke(), StopOutcome::Stopped) || self.tool.stop_grace().is_some();
        let (result, finished) = match std::mem::replace(&mut self.work, HandlerWork::Over) {
            HandlerWork::Scoped { run, scope, runtime } => {
                drop_quietly(run);
                self.notes = scope.notes();
                let finished = runtime.spawn(scope.finish(CallOutcome::Cancelled).in_current_span());
                (None, (!still_runs).then_some(finished))
            }
            // The handler has returned, and its result stands.
            HandlerWork::Finishing { finished, result } => (Some(result), Some(finished)),
            other => {
                drop_quietly(other);
                (None, None)
            }
        };
        let (tool, notes, describe) = (self.tool.clone(), self.notes.take(), self.describe.take());
        async move {
            let stopped = || Err(if still_runs { unstoppable(cancelled()) } else { cancelled() });
            let result = result.unwrap_or_else(stopped);
            let result = match finished {
                Some(finished) => after_finish(result, finished.await),
                None => result,
            };
            with_notes(into_tool_result(result, &tool.name, describe.as_ref()), notes)
        }
    }
}

impl Future for RunningHandler {
    type Output = ToolResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ToolResult> {
        let this = self.get_mut();
        loop {
            if !std::mem::take(&mut this.is_waiting)
                && let Some(result) = this.poll_work(context)
            {
                let outcome = result
                    .as_ref()
                    .map_or_else(|failure| CallOutcome::from_failure(failure.kind), |_| CallOutcome::Success);
                match this.end(result, outcome, false) {
                    Some(result) => {
                        return Poll::Ready(with_notes(
                            into_tool_result(result, &this.tool.name, this.describe.as_ref()),
                            this.notes.take(),
                        ));
                    }
                    None => continue,
                }
            }
            let failure = if this.cancelled.as_mut().is_some_and(|waiting| waiting.as_mut().poll(context).is_ready()) {
                cancelled()
            } else {
                std::task::ready!(this.poll_timer(context))
            };
            if let Some(result) = this.stop(failure) {
                return Poll::Ready(with_notes(
                    into_tool_result(result, &this.tool.name, this.describe.as_ref()),
                    this.notes.take(),
                ));
            }
        }
    }
}

impl Drop for RunningHandler {
    fn drop(&mut self) {
        drop(self.abandon());
    }
}

/// Polls a handler. A panic becomes its result.
fn poll_handler(
    run: &mut (impl Future<Output = HandlerResult> + Unpin),
    context: &mut Context<'_>,
) -> Option<HandlerResult> {
    match panics::catch(|| Pin::new(run).poll(context)) {
        Ok(Poll::Pending) => None,
        Ok(Poll::Ready(result)) => Some(result),
        Err(panic) => Some(Err(HandlerFailure::panicked(panic))),
    }
}

/// Returns the result of a handler whose scope is finished. A failed commit turns a success into a failure.
fn after_finish(result: HandlerResult, finished: Result<FinishResult, JoinError>) -> HandlerResult {
    let finished = finished.unwrap_or_else(|error| Err(error.into()));
    result.and_then(|output| match finished {
        Ok(()) => Ok(output),
        Err(error) => Err(HandlerFailure::finish(error)),
    })
}

#[inline]
fn with_notes(mut result: ToolResult, notes: Option<Notes>) -> ToolResult {
    if let Some(notes) = notes {
        notes.move_to(&mut result.metadata);
    }
    result
}

/// Makes the inputs of a handler, one after the other, and runs it.
///
/// With a stage, the handler is entered only if its approval was not withdrawn before, and the stage records the entry.
pub(crate) async fn run_in_scope(
    tool: Arc<BoundTool>,
    scope: Arc<ScopeInner>,
    runtime: Handle,
    handler: PreparedHandler,
    stage: Option<CallStage>,
) -> HandlerResult {
    let inputs = make_inputs(&tool, &scope).await.map_err(HandlerFailure::injection)?;
    if stage.as_ref().is_some_and(|stage| !stage.start()) {
        return Err(HandlerFailure::new(ErrorKind::Cancelled, "was cancelled before it ran"));
    }
    let not_entered = || stage.iter().for_each(CallStage::not_entered);
    match handler(inputs) {
        Err(error) => {
            not_entered();
            Err(HandlerFailure::injection(error))
        }
        Ok(HandlerStep::Done(result)) => result,
        Ok(HandlerStep::Future(future)) => future.await,
        Ok(HandlerStep::Blocking(function)) => {
            // The function is entered on a thread of its own, possibly much later.
            not_entered();
            let may_start = move || stage.is_none_or(|stage| stage.start());
            // The scope keeps the values that it lends until the function has ended.
            let (blocking, result) = BlockingHandler::start_if(&runtime, may_start, function);
            scope.hold_for(blocking);
            blocking_result(result.await)
        }
        Ok(HandlerStep::Waiting(_) | HandlerStep::Refused(_)) => {
            unreachable!("a shim that has decoded its arguments runs its function")
        }
    }
}

async fn make_inputs(tool: &BoundTool, scope: &Arc<ScopeInner>) -> Result<HandlerInputs, InjectError> {
    let instance = match &tool.instance {
        InstanceSource::None => InstanceInput::None,
        InstanceSource::Scope => InstanceInput::Scope(Scope::new(scope.clone())),
        InstanceSource::Shared(shared) => InstanceInput::Shared(shared.clone()),
        InstanceSource::Exclusive(service) => InstanceInput::Locked(match (service.try_lock)() {
            Some(guard) => guard,
            None => {
                // The call that holds the lock may wait for a permit, so none is held while waiting for the lock.
                scope.release_permit();
                (service.lock)().await
            }
        }),
        InstanceSource::PerCall { constructor, type_name, injections } => {
            construct(*constructor, type_name, injections, scope).await?
        }
    };
    Ok(HandlerInputs { instance, values: make_values(&tool.injections, scope).await? })
}

async fn make_values(
    injections: &[(Injection, ValueSource)],
    scope: &Arc<ScopeInner>,
) -> Result<Vec<InjectedValue>, InjectError> {
    let mut values = Vec::with_capacity(injections.len());
    for (injection, source) in injections {
        let value = scope.clone().input(*source, None).await?;
        if matches!((source, injection.mode), (ValueSource::PerCall(_), InjectionMode::Mut | InjectionMode::Move)) {
            wait_until_returned(&value).await;
        }
        values.push(value);
    }
    Ok(values)
}

/// Waits while a preview that has outlived its timeout, on a blocked thread, still reads a per-call value.
///
/// This is rare enough to poll: a notification would cost every value that is lent.
async fn wait_until_returned(value: &InjectedValue) {
    while value.is_lent()
        && let Some(timer) = timer(Duration::from_millis(5))
    {
        timer.await;
    }
}

async fn construct(
    constructor: InstanceConstructor,
    type_name: &str,
    injections: &[(Injection, ValueSource)],
    scope: &Arc<ScopeInner>,
) -> Result<InstanceInput, InjectError> {
    let inputs = HandlerInputs { instance: InstanceInput::None, values: make_values(injections, scope).await? };
    let built = match panics::catch(|| (constructor.build)(inputs)) {
        Ok(building) => match building? {
            BuiltInstance::Ready(built) => Ok(built),
            BuiltInstance::Future(building) => CatchPanic(building).await,
        },
        Err(panic) => Err(panic),
    };
    let built = built.unwrap_or_else(|panic| Err(format!("it panicked: {panic}").into()));
    let name = short_type(type_name);
    built.map(InstanceInput::Own).map_err(|error| InjectError::caused(format!("`{name}::new` failed"), error))
}
