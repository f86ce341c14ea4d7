//! One call, from the text to the result.

use std::borrow::Cow;
use std::ops::ControlFlow::{self, Break, Continue};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::Sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracing::Span;

use super::careful::{Care, Careful, Prepared};
use super::offer::Offer;
use super::{BoundTool, Dispatcher, Given, InstanceSource, scoped};
use crate::answer::{Answer, Failure, Output};
use crate::arguments::{Reader, Repaired};
use crate::confirm::Question;
use crate::guard::{self, drop_quietly};
use crate::inject::{Blocking, BlockingAnswer, Facts, InjectError, Inputs, InstanceInput, ScopeInner, blocking_answer};
use crate::output::clean;
use crate::shim::{Invocation, Purpose, Step, Waiting};
use crate::{ErrorKind, Notes, Outcome, Progress, Spill, ToolCall, ToolError, ToolResult, Watched, What};

/// How long a rollback may take after its call was stopped. It goes on in the background after that.
const FINISH_GRACE: Duration = Duration::from_secs(5);

/// A call that is made by awaiting it; see [`Dispatcher::call`].
///
/// It never fails and never panics: whatever happens is a [`ToolResult`]. Dropped, it stops the handler and finishes
/// what was injected in the background.
#[must_use = "a call does nothing unless it is awaited"]
pub struct Call<'a> {
    pub(super) tools: &'a Dispatcher,
    pub(super) call: ToolCall<'a>,
    pub(super) with: Vec<Given>,
    pub(super) timeout: Option<Duration>,
    cancel: Option<CancellationToken>,
    /// The name by which the model knows a tool that was renamed.
    called: Option<Cow<'a, str>>,
    /// What was mended in the arguments.
    repaired: Option<Box<Repaired>>,
    /// What somebody has given consent to.
    approved: Option<Box<Question>>,
    dry_run: bool,
    /// Whether it is approved or a dry run.
    is_special: bool,
    #[cfg(feature = "metrics")]
    started: Option<std::time::Instant>,
    state: State,
}

enum State {
    New,
    Running(Running),
    Done,
}

struct Running {
    tool: Arc<BoundTool>,
    work: Work,
    /// Whether the work was polled in this very poll and waits.
    is_waiting: bool,
    timeout: Option<Duration>,
    timer: Option<Pin<Box<Sleep>>>,
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// What the handler has said besides its output.
    notes: Option<Notes>,
    /// What a call on the careful way has to do besides.
    careful: Option<Box<CarefulRun>>,
}

/// What a call on the careful way carries along.
struct CarefulRun {
    runtime: Handle,
    scope: Option<Arc<ScopeInner>>,
    care: Option<Box<Care>>,
    span: Span,
}

enum Work {
    /// It is not decided yet whether the handler runs.
    Preparing(Pin<Box<dyn Future<Output = Prepared> + Send>>),
    /// The handler is over; its outcome is being recorded.
    Recording { recording: Pin<Box<dyn Future<Output = ()> + Send>>, result: Box<ToolResult> },
    /// An `async` handler that needs nothing made.
    Handler(Pin<Box<dyn Future<Output = Answer> + Send>>),
    /// A blocking handler that needs nothing made.
    Blocking { blocking: Blocking, answer: BlockingAnswer },
    /// A handler in a scope.
    Scoped { run: Pin<Box<dyn Future<Output = Answer> + Send>>, scope: Arc<ScopeInner>, runtime: Handle },
    /// The handler is over, its scope is being finished by a task of its own.
    Finishing { finished: JoinHandle<Result<(), String>>, answer: Answer },
    /// Nothing is left to do.
    Over,
}

impl<'a> Call<'a> {
    pub(super) fn new(tools: &'a Dispatcher, call: ToolCall<'a>) -> Self {
        Self {
            tools,
            call,
            with: Vec::new(),
            timeout: None,
            cancel: None,
            called: None,
            repaired: None,
            approved: None,
            dry_run: false,
            is_special: false,
            #[cfg(feature = "metrics")]
            started: None,
            state: State::New,
        }
    }

    /// A value that comes with this call, for parameters of its type. The builder knows the type through
    /// [`per_call`](super::Builder::per_call).
    pub fn with<T: Send + 'static>(mut self, value: T) -> Self {
        let given = Given::new(value);
        self.with.retain(|known| known.type_id != given.type_id);
        self.with.push(given);
        self
    }

    /// How long this call may take, whatever its tool and the dispatcher say.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Stops the call when the token is cancelled.
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Only says what the call would do, whatever the dispatcher does otherwise: nothing runs, and nobody is asked.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self.is_special = true;
        self
    }

    pub(super) fn approved(mut self, question: Box<Question>) -> Self {
        self.approved = Some(question);
        self.is_special = true;
        self
    }

    /// Finds the tool, checks the arguments, and runs the handler as far as it goes without waiting.
    fn start(&mut self, context: &mut Context<'_>) -> ControlFlow<ToolResult, Running> {
        let tools = self.tools;
        tools.with_offer(|offer| self.start_on(offer, context))
    }

    #[inline(always)]
    fn start_on(&mut self, offer: &Offer, context: &mut Context<'_>) -> ControlFlow<ToolResult, Running> {
        let inner = &self.tools.inner;
        let Some(tool) = offer.tools.get(&*self.call.name) else {
            return Break(failed(offer.unknown_tool(&self.call.name)));
        };
        if self.call.arguments.len() > inner.limits.argument_bytes {
            return Break(failed(self.too_long()));
        }
        if tool.is_renamed || tool.wants_tools {
            self.suit(tool);
        }
        if self.cancel.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return Break(answered(tool, Err(cancelled())));
        }
        let watched = inner.rules.events.watch(&self.call);
        if self.is_special || inner.rules.concern(tool) || ((watched.is_some() || has_subscriber()) && has_runtime()) {
            return self.start_carefully(tool, watched);
        }
        let ready = if tool.needs_scope {
            None
        } else {
            match self.ready_inputs(tool) {
                Ok(inputs) => Some(inputs),
                Err(error) => return Break(answered(tool, Err(scoped::not_run(tool, &error)))),
            }
        };
        let reader = Reader {
            text: &self.call.arguments,
            schemas: tool.schemas(),
            allow_unknown: inner.limits.allow_unknown,
            repair: inner.limits.repair,
        };
        let purpose = Purpose::Call { tool: &tool.name, reader, repaired: &mut self.repaired };
        let invocation = Invocation { purpose, ready };
        let work = match guard::catch(|| first_step(tool.invoke(invocation), context)) {
            Ok(Step::Done(answer)) => return Break(answered(tool, answer)),
            Ok(Step::Refused(error)) => return Break(failed(*error)),
            Ok(Step::Future(handler)) => Work::Handler(handler),
            Ok(Step::Blocking(function)) => match Handle::try_current() {
                Ok(runtime) => {
                    let (blocking, answer) = Blocking::start(&runtime, function);
                    Work::Blocking { blocking, answer }
                }
                Err(_) => return Break(answered(tool, Err(no_runtime()))),
            },
            Ok(Step::Waiting(waiting)) => {
                let Ok(runtime) = Handle::try_current() else { return Break(answered(tool, Err(no_runtime()))) };
                let facts = Facts::new(self.call.context(), self.timeout_of(tool));
                let scope = ScopeInner::new(inner.dependencies.clone(), std::mem::take(&mut self.with), facts);
                Work::Scoped {
                    run: Box::pin(scoped::run(tool.clone(), scope.clone(), runtime.clone(), waiting)),
                    scope,
                    runtime,
                }
            }
            Err(panic) => return Break(answered(tool, Err(Failure::new(ErrorKind::Panicked, panic)))),
        };
        Continue(Running {
            tool: tool.clone(),
            is_waiting: matches!(work, Work::Handler(_)),
            work,
            timeout: self.timeout_of(tool),
            timer: None,
            cancelled: self.cancel.take().map(|token| Box::pin(token.cancelled_owned())),
            notes: None,
            careful: None,
        })
    }

    /// Starts a call that somebody has to be asked about, that is recorded or only tried, or that is watched.
    #[cold]
    fn start_carefully(&mut self, tool: &Arc<BoundTool>, watched: Option<Watched>) -> ControlFlow<ToolResult, Running> {
        let Ok(runtime) = Handle::try_current() else { return Break(answered(tool, Err(no_runtime()))) };
        let inner = self.tools.inner.clone();
        let timeout = self.timeout_of(tool);
        if let Some(watched) = &watched {
            let watched = watched.clone();
            self.with.push(Given::new(Progress::to(move |progress| watched.send(What::Progress { progress }))));
        }
        let with = if tool.preview.is_some() { self.with.clone() } else { Vec::new() };
        // The time that a person takes to answer is not the handler's: its deadline is told when it starts.
        let facts = Facts::new(self.call.context(), timeout);
        let scope = ScopeInner::new(inner.dependencies.clone(), std::mem::take(&mut self.with), facts);
        let span = span_of(&self.call, tool);
        let careful = Careful {
            inner,
            tool: tool.clone(),
            call: self.call.clone().into_owned(),
            approved: self.approved.take(),
            dry_run: self.dry_run,
            watched,
            with,
        };
        Continue(Running {
            tool: tool.clone(),
            is_waiting: false,
            work: Work::Preparing(Box::pin(careful.prepare(span.clone()))),
            timeout,
            timer: None,
            cancelled: self.cancel.take().map(|token| Box::pin(token.cancelled_owned())),
            notes: None,
            careful: Some(Box::new(CarefulRun { runtime, scope: Some(scope), care: None, span })),
        })
    }

    /// What is asked, limited and recorded is the tool itself, whatever a selection calls it. What the model reads has
    /// the name that it knows.
    #[cold]
    fn suit(&mut self, tool: &BoundTool) {
        if tool.is_renamed {
            self.called = Some(std::mem::replace(&mut self.call.name, Cow::Owned(tool.own_name.to_string())));
        }
        if tool.wants_tools {
            self.with.push(Given::new(self.tools.clone()));
        }
    }

    fn timeout_of(&self, tool: &BoundTool) -> Option<Duration> {
        self.timeout.or(tool.timeout).or(self.tools.inner.limits.timeout)
    }

    #[inline]
    fn ready_inputs(&self, tool: &BoundTool) -> Result<Inputs, InjectError> {
        let instance = match &tool.instance {
            InstanceSource::Shared(shared) => InstanceInput::Shared(shared.clone()),
            InstanceSource::None | InstanceSource::Scope | InstanceSource::PerCall { .. } => InstanceInput::None,
        };
        if tool.injections.is_empty() {
            return Ok(Inputs { instance, values: Vec::new() });
        }
        let dependencies = &self.tools.inner.dependencies;
        let values = tool.injections.iter().map(|(_, source)| dependencies.ready_input(*source, &self.with));
        Ok(Inputs { instance, values: values.collect::<Result<_, _>>()? })
    }

    /// Shortens a result that is too long, and says what was mended.
    #[inline]
    fn dressed(&mut self, result: ToolResult) -> ToolResult {
        let result = if self.tools.inner.rules.touch_results { self.touched(result) } else { result };
        #[cfg(feature = "metrics")]
        if let Some(started) = self.started {
            crate::measure::measure(&self.call.name, &result, started.elapsed());
        }
        if self.repaired.is_none() { result } else { self.with_repairs(result) }
    }

    /// Shortens a result that is too long, and ends tries.
    #[cold]
    fn touched(&self, result: ToolResult) -> ToolResult {
        let rules = &self.tools.inner.rules;
        let result = match &rules.spill {
            None => result,
            Some(spill) => shortened(spill, self.call.conversation_id(), result),
        };
        match &rules.tries {
            None => result,
            Some(tries) => {
                let name = self.called.as_ref().unwrap_or(&self.call.name);
                tries.judge(self.call.conversation_id(), name, result)
            }
        }
    }

    /// Says in the result what was mended.
    #[cold]
    #[inline(never)]
    fn with_repairs(&mut self, mut result: ToolResult) -> ToolResult {
        if let Some(repaired) = self.repaired.take() {
            result.metadata.insert("repairs", json!(repaired.repairs));
        }
        result
    }

    #[cold]
    pub(super) fn too_long(&self) -> ToolError {
        let message = format!(
            "Invalid arguments for `{}`: {} bytes are more than the limit of {}. Send less.",
            self.call.name,
            self.call.arguments.len(),
            self.tools.inner.limits.argument_bytes
        );
        ToolError::new(ErrorKind::InvalidArguments, message)
    }
}

impl Future for Call<'_> {
    type Output = ToolResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ToolResult> {
        let this = self.get_mut();
        if matches!(this.state, State::New) {
            #[cfg(feature = "metrics")]
            {
                this.started = Some(std::time::Instant::now());
            }
            match this.start(context) {
                Continue(running) => this.state = State::Running(running),
                Break(result) => {
                    this.state = State::Done;
                    return Poll::Ready(this.dressed(result));
                }
            }
        }
        let State::Running(running) = &mut this.state else {
            panic!("a call was polled after it had answered");
        };
        let Poll::Ready(result) = running.poll(context) else { return Poll::Pending };
        this.state = State::Done;
        Poll::Ready(this.dressed(result))
    }
}

/// Polls an `async` handler for the first time; most answer at once, and nothing needs to be kept for them.
#[inline]
fn first_step(step: Step, context: &mut Context<'_>) -> Step {
    match step {
        Step::Future(mut handler) => match handler.as_mut().poll(context) {
            Poll::Ready(answer) => Step::Done(answer),
            Poll::Pending => Step::Future(handler),
        },
        other => other,
    }
}

impl Running {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<ToolResult> {
        match self.careful.as_ref().map(|careful| careful.span.clone()) {
            None => self.poll_answer(context).map(|answer| noted(answered(&self.tool, answer), self.notes.take())),
            Some(span) => span.in_scope(|| self.poll_carefully(context)),
        }
    }

    /// Decides, runs and records.
    fn poll_carefully(&mut self, context: &mut Context<'_>) -> Poll<ToolResult> {
        loop {
            match &mut self.work {
                Work::Preparing(preparing) => match guard::catch(|| preparing.as_mut().poll(context)) {
                    Ok(Poll::Ready(Prepared::Answer(result))) => {
                        self.work = Work::Over;
                        return Poll::Ready(*result);
                    }
                    Ok(Poll::Ready(Prepared::Run(waiting, care))) => self.run_prepared(waiting, care),
                    Ok(Poll::Pending) => {
                        let is_cancelled =
                            self.cancelled.as_mut().is_some_and(|waiting| waiting.as_mut().poll(context).is_ready());
                        if !is_cancelled {
                            return Poll::Pending;
                        }
                        drop_quietly(std::mem::replace(&mut self.work, Work::Over));
                        return Poll::Ready(answered(&self.tool, Err(cancelled())));
                    }
                    Err(panic) => {
                        self.work = Work::Over;
                        return Poll::Ready(answered(&self.tool, Err(Failure::new(ErrorKind::Panicked, panic))));
                    }
                },
                Work::Recording { recording, .. } => {
                    match guard::catch(|| recording.as_mut().poll(context)) {
                        Ok(Poll::Pending) => return Poll::Pending,
                        Ok(Poll::Ready(())) => {}
                        Err(panic) => tracing::error!(panic, "the outcome of a call could not be recorded"),
                    }
                    let Work::Recording { result, .. } = std::mem::replace(&mut self.work, Work::Over) else {
                        continue;
                    };
                    return Poll::Ready(*result);
                }
                _ => {
                    let Poll::Ready(answer) = self.poll_answer(context) else { return Poll::Pending };
                    let result = noted(answered(&self.tool, answer), self.notes.take());
                    let care = self.careful.as_mut().and_then(|careful| careful.care.take());
                    let Some(mut care) = care else { return Poll::Ready(result) };
                    let result = care.complete(result);
                    match care.record(&result) {
                        None => return Poll::Ready(result),
                        Some(recording) => {
                            self.work = Work::Recording { recording: Box::pin(recording), result: Box::new(result) };
                        }
                    }
                }
            }
        }
    }

    /// It is decided: the handler runs.
    fn run_prepared(&mut self, waiting: Waiting, mut care: Box<Care>) {
        let Some(careful) = &mut self.careful else { return };
        let Some(scope) = careful.scope.take() else { return };
        if let Some(permit) = care.permit.take() {
            scope.keep(permit);
        }
        careful.care = Some(care);
        let runtime = careful.runtime.clone();
        let run = Box::pin(scoped::run(self.tool.clone(), scope.clone(), runtime.clone(), waiting));
        self.work = Work::Scoped { run, scope, runtime };
    }

    fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<Answer> {
        loop {
            // A handler that was polled on its way in has said that it waits.
            if !std::mem::take(&mut self.is_waiting)
                && let Some(answer) = self.poll_work(context)
            {
                let outcome = outcome_of(&answer);
                match self.end(answer, outcome, false) {
                    Some(answer) => return Poll::Ready(answer),
                    None => continue,
                }
            }
            if let Some(waiting) = &mut self.cancelled
                && waiting.as_mut().poll(context).is_ready()
            {
                self.cancelled = None;
                match self.stop(cancelled()) {
                    Some(answer) => return Poll::Ready(answer),
                    None => continue,
                }
            }
            match self.poll_timer(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(failure) => match self.stop(failure) {
                    Some(answer) => return Poll::Ready(answer),
                    None => continue,
                },
            }
        }
    }

    /// Goes on with the work; nothing while it waits.
    fn poll_work(&mut self, context: &mut Context<'_>) -> Option<Answer> {
        let panicked = |panic: String| Err(Failure::new(ErrorKind::Panicked, panic));
        match &mut self.work {
            Work::Handler(run) | Work::Scoped { run, .. } => match guard::catch(|| run.as_mut().poll(context)) {
                Ok(Poll::Pending) => None,
                Ok(Poll::Ready(answer)) => Some(answer),
                Err(panic) => Some(panicked(panic)),
            },
            Work::Blocking { answer, .. } => match Pin::new(answer).poll(context) {
                Poll::Pending => None,
                Poll::Ready(answer) => Some(blocking_answer(answer)),
            },
            Work::Finishing { finished, answer } => match Pin::new(finished).poll(context) {
                Poll::Pending => None,
                Poll::Ready(finished) => {
                    let answer = std::mem::replace(answer, Ok(Output::default()));
                    self.work = Work::Over;
                    Some(ended(answer, finished))
                }
            },
            Work::Over | Work::Preparing(_) | Work::Recording { .. } => {
                Some(Err(Failure::new(ErrorKind::Failed, "the call is over")))
            }
        }
    }

    /// The handler is over: its answer, or nothing if its scope has to be finished first.
    fn end(&mut self, answer: Answer, outcome: Outcome, is_held: bool) -> Option<Answer> {
        match std::mem::replace(&mut self.work, Work::Over) {
            Work::Scoped { run, scope, runtime } => {
                drop_quietly(run);
                self.notes = scope.notes();
                let finished = runtime.spawn(scope.finish(outcome));
                if is_held {
                    return Some(answer);
                }
                self.work = Work::Finishing { finished, answer };
                None
            }
            over => {
                drop_quietly(over);
                Some(answer)
            }
        }
    }

    /// Stops the handler. One that blocks its thread cannot be stopped, and the answer says so.
    fn stop(&mut self, failure: Box<Failure>) -> Option<Answer> {
        self.cancelled = None;
        self.timer = None;
        let mut answer = Err(failure);
        let outcome = outcome_of(&answer);
        let is_held = match &self.work {
            Work::Blocking { blocking, .. } => !blocking.revoke(),
            Work::Scoped { scope, .. } => scope.revoke(),
            // The handler's answer stands, but what it wrote may not: this, too, cannot be known.
            Work::Finishing { answer, .. } => answer.is_ok(),
            Work::Handler(_) | Work::Over | Work::Preparing(_) | Work::Recording { .. } => false,
        };
        if is_held && let Err(failure) = &mut answer {
            failure.kind = ErrorKind::OutcomeUnknown;
            failure.message.push_str(STILL_RUNNING);
        }
        if let Work::Finishing { answer: of_handler, .. } = &mut self.work {
            let of_handler = std::mem::replace(of_handler, Ok(Output::default()));
            self.work = Work::Over;
            return Some(of_handler.and(answer));
        }
        let ended = self.end(answer, outcome, is_held);
        if ended.is_none() {
            // The rollback has its own time. Without a timer it has all the time.
            self.timer = timer(FINISH_GRACE);
        }
        ended
    }

    /// Waits for the deadline. The timer is armed only once the handler has to wait.
    fn poll_timer(&mut self, context: &mut Context<'_>) -> Poll<Box<Failure>> {
        let timer = match (&mut self.timer, self.timeout) {
            (Some(timer), _) => timer,
            (None, None) => return Poll::Pending,
            (None, Some(timeout)) => match timer(timeout) {
                Some(timer) => self.timer.insert(timer),
                None => {
                    self.timeout = None;
                    return Poll::Ready(no_runtime());
                }
            },
        };
        timer.as_mut().poll(context).map(|()| {
            let limit = self.timeout.unwrap_or(FINISH_GRACE);
            Failure::new(ErrorKind::TimedOut, format!("did not finish within {limit:?}"))
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let careful = self.careful.take();
        match std::mem::replace(&mut self.work, Work::Over) {
            Work::Scoped { run, scope, runtime } => {
                drop_quietly(run);
                let is_held = scope.revoke();
                runtime.spawn(scope.finish(Outcome::Cancelled));
                if let Some(mut care) = careful.and_then(|careful| careful.care) {
                    let mut failure = cancelled();
                    if is_held {
                        failure.kind = ErrorKind::OutcomeUnknown;
                        failure.message.push_str(STILL_RUNNING);
                    }
                    let result = care.complete(answered(&self.tool, Err(failure)));
                    care.record(&result).map(|recording| runtime.spawn(recording));
                }
            }
            // The handler is over, and its answer stands: what is lost is only the caller.
            Work::Finishing { finished, answer } => {
                let Some(CarefulRun { runtime, care: Some(mut care), .. }) = careful.map(|careful| *careful) else {
                    return;
                };
                let tool = self.tool.clone();
                let notes = self.notes.take();
                runtime.clone().spawn(async move {
                    let answer = ended(answer, finished.await);
                    let result = care.complete(noted(answered(&tool, answer), notes));
                    if let Some(recording) = care.record(&result) {
                        recording.await;
                    }
                });
            }
            Work::Recording { recording, .. } => {
                if let Some(careful) = careful {
                    careful.runtime.spawn(recording);
                }
            }
            Work::Blocking { blocking, .. } => drop(blocking.revoke()),
            other => drop_quietly(other),
        }
    }
}

const STILL_RUNNING: &str = ", but could not be stopped: it may still take effect";

/// The answer of a handler whose scope is finished: a commit that fails makes it a failure.
fn ended(answer: Answer, finished: Result<Result<(), String>, tokio::task::JoinError>) -> Answer {
    let finished = finished.unwrap_or_else(|error| Err(format!("its task ended: {error}")));
    answer.and_then(|output| match finished {
        Ok(()) => Ok(output),
        Err(error) => Err(Failure::new(ErrorKind::Finish, error)),
    })
}

#[cold]
fn shortened(spill: &Spill, conversation: Option<&str>, mut result: ToolResult) -> ToolResult {
    let (output, spilled) = spill.shorten(conversation, std::mem::take(&mut result.output));
    result.output = output;
    if let Some(spilled) = spilled {
        result.metadata.insert("spilled", json!(spilled));
    }
    result
}

/// Whether somebody looks at the spans of calls.
#[inline]
fn has_subscriber() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::INFO)
}

/// Whoever only watches does not make a call need what it would not need unwatched.
#[cold]
fn has_runtime() -> bool {
    Handle::try_current().is_ok()
}

/// Where the spans of calls belong.
const TARGET: &str = "tool_runtime::call";

/// The span of a call, in OpenTelemetry's words for generative models.
fn span_of(call: &ToolCall<'_>, tool: &BoundTool) -> Span {
    tracing::info_span!(
        target: TARGET,
        "execute_tool",
        otel.name = format!("execute_tool {}", &*tool.name),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = &*tool.name,
        gen_ai.tool.r#type = "function",
        gen_ai.tool.description = tool.description(),
        gen_ai.tool.call.id = call.call_id(),
        gen_ai.conversation.id = call.conversation_id(),
        gen_ai.tool.call.arguments = tracing::field::Empty,
        error.r#type = tracing::field::Empty,
    )
}

/// A timer, unless this thread has no runtime that keeps time.
fn timer(duration: Duration) -> Option<Pin<Box<Sleep>>> {
    Handle::try_current().ok()?;
    guard::catch(|| Box::pin(tokio::time::sleep(duration))).ok()
}

fn outcome_of(answer: &Answer) -> Outcome {
    match answer {
        Ok(_) => Outcome::Success,
        Err(failure) => match failure.kind {
            ErrorKind::Panicked => Outcome::Panicked,
            ErrorKind::TimedOut | ErrorKind::OutcomeUnknown => Outcome::TimedOut,
            ErrorKind::Cancelled => Outcome::Cancelled,
            _ => Outcome::Failed,
        },
    }
}

fn cancelled() -> Box<Failure> {
    Failure::new(ErrorKind::Cancelled, "was cancelled")
}

pub(super) fn no_runtime() -> Box<Failure> {
    Failure::new(ErrorKind::NoRuntime, "needs a Tokio runtime with time enabled, and there is none on this thread")
}

fn failed(error: ToolError) -> ToolResult {
    ToolResult::failure(error)
}

/// The answer in the words that the model reads.
#[inline]
fn answered(tool: &BoundTool, answer: Answer) -> ToolResult {
    match answer {
        Ok(Output { text, metadata }) => ToolResult { metadata, ..ToolResult::success(text) },
        Err(mut failure) => match failure.result.take() {
            Some(result) => result,
            None => failed(in_words(tool, *failure)),
        },
    }
}

/// A result with what its handler has said besides.
#[inline]
fn noted(mut result: ToolResult, notes: Option<Notes>) -> ToolResult {
    if let Some(notes) = notes {
        notes.move_to(&mut result.metadata);
    }
    result
}

#[cold]
pub(super) fn in_words(tool: &BoundTool, failure: Failure) -> ToolError {
    let Failure { kind, message, .. } = failure;
    let name = &tool.name;
    let message = match kind {
        ErrorKind::Panicked => format!("`{name}` panicked: {message}"),
        ErrorKind::TimedOut => format!("`{name}` {message} and was stopped."),
        ErrorKind::Cancelled | ErrorKind::OutcomeUnknown | ErrorKind::NoRuntime | ErrorKind::Refused => {
            format!("`{name}` {message}.")
        }
        ErrorKind::Finish => format!("`{name}` ran, but failed in the end: {message}"),
        _ => message,
    };
    ToolError::new(kind, clean(message))
}
