//! A call: what it is told, and how it starts.

pub(super) mod finalize;
pub(super) mod messages;
pub(super) mod observe;
pub(super) mod preview;
pub(super) mod running;
pub(super) mod scoped;
pub(super) mod span;
pub(super) mod time_budget;

use std::borrow::Cow;
use std::ops::ControlFlow::{self, Break, Continue};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::arguments::{Reader, Repaired};
use crate::confirm::{Confirm, Question};
use crate::dispatch::call::messages::{answered, cancelled, no_runtime, panicked};
use crate::dispatch::call::observe::CallObserver;
use crate::dispatch::call::running::{HandlerWork, RunningHandler};
use crate::dispatch::call::span::{has_subscriber, span_of};
use crate::dispatch::call::time_budget::TimeBudget;
use crate::dispatch::dispatcher::snapshot::ToolSnapshot;
use crate::dispatch::guarded::GuardedCall;
use crate::dispatch::turn::turn_slot::TurnSlot;
use crate::dispatch::{BoundTool, CallValue, Dispatcher, InstanceSource};
use crate::events::WatchedCall;
use crate::handler_result::HandlerFailure;
use crate::inject::{BlockingHandler, CallFacts, InjectError, Inputs, InstanceInput, ScopeInner};
use crate::shim::{Invocation, InvocationPurpose, Step};
use crate::{ErrorKind, ToolCall, ToolResult, panics};

/// A call that is made by awaiting it; see [`Dispatcher::call`].
///
/// It never fails and never panics: whatever happens is a [`ToolResult`]. Dropped, it stops the handler and finishes
/// what was injected in the background.
///
/// A panic of a handler, of a provider or of whatever else is not ours, one with an odd payload, one while something is
/// dropped, and a deadline are results. What ends the process ends it whatever one does: a panic during another, a stack
/// overflow, `abort`, `panic = "abort"`, `process::exit`. Run tools that may do that in a process of their own, such as
/// a child that speaks MCP or a worker on another machine, where the end of the process is a result as well.
#[must_use = "a call does nothing unless it is awaited"]
pub struct Call<'a> {
    pub(crate) tools: &'a Dispatcher,
    pub(crate) call: ToolCall<'a>,
    pub(crate) with: Vec<CallValue>,
    timeout: Option<Duration>,
    pub(crate) cancel: Option<CancellationToken>,
    /// What few calls have. In a box, since a call is moved about.
    pub(crate) rare: Option<Box<CallOptions>>,
    #[cfg(feature = "metrics")]
    pub(crate) metrics: Option<crate::metrics::CallMetrics>,
    state: CallState,
}

/// What few calls have.
#[derive(Default)]
pub(crate) struct CallOptions {
    /// What somebody has given consent to.
    approved: Option<Box<Question>>,
    dry_run: bool,
    /// Whether only the record answers.
    replay: bool,
    /// Who is asked about this call, instead of whom the dispatcher asks.
    confirm: Option<Arc<dyn Confirm>>,
    /// How long it may take at most.
    within: Option<Duration>,
    /// The conversation for whose limits it counts, if that is not its own.
    pub(crate) counts_for: Option<String>,
    /// Its place among the calls of its turn.
    seat: Option<TurnSlot>,
    /// The name by which the model knows a tool that was renamed.
    pub(crate) called: Option<String>,
    /// What was mended in the arguments.
    pub(crate) repaired: Option<Box<Repaired>>,
    /// Who watches a call that takes the plain way.
    pub(crate) told: Option<CallObserver>,
}

enum CallState {
    New,
    Running(Box<RunningHandler>),
    GuardedCall(Pin<Box<dyn Future<Output = ToolResult> + Send>>),
    /// A long result is being kept.
    Keeping(Pin<Box<dyn Future<Output = ToolResult> + Send>>),
    Done,
}

impl<'a> Call<'a> {
    #[inline]
    pub(crate) fn new(tools: &'a Dispatcher, call: ToolCall<'a>) -> Self {
        Self {
            tools,
            call,
            with: Vec::new(),
            timeout: None,
            cancel: None,
            rare: None,
            #[cfg(feature = "metrics")]
            metrics: None,
            state: CallState::New,
        }
    }

    /// A value that comes with this call, for parameters of its type. The builder knows the type through
    /// [`per_call`](crate::Builder::per_call).
    pub fn with<T: Send + 'static>(mut self, value: T) -> Self {
        let given = CallValue::new(value);
        self.with.retain(|known| known.type_id != given.type_id);
        self.with.push(given);
        self
    }

    /// What is called: for whoever prepares the calls of others, as [`Turn::each`](crate::Turn::each) does.
    #[must_use]
    pub fn request(&self) -> &ToolCall<'a> {
        &self.call
    }

    /// How long this call may take, whatever its tool and the dispatcher say.
    ///
    /// That is the time from here to the answer, with everything that goes before the handler: a queue, a record. A
    /// person who is asked takes none of it. After that time a rollback, the record of the outcome and the store of long
    /// results may keep the answer back for some seconds, and go on in the background then.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long this call may take at most: less than what its [`timeout`](Self::timeout), its tool and the dispatcher
    /// say, never more. It is for whoever passes on a time that somebody else has asked for.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use serde_json::json;
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let forever = RuntimeTool::new("forever", "Never ends.", |()| std::future::pending::<()>());
    /// let tools = Dispatcher::builder().tool(forever).timeout(Duration::from_millis(2)).build()?;
    /// let asked = |time| tools.call(ToolCall::new("forever", json!({}))).within(Duration::from_millis(time));
    ///
    /// assert_eq!(asked(1).await.output, "`forever` did not finish within 1ms and was stopped.");
    /// assert_eq!(asked(3_600_000).await.output, "`forever` did not finish within 2ms and was stopped.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn within(mut self, time: Duration) -> Self {
        self.rare().within = Some(time);
        self
    }

    /// Counts for the [limits](crate::limits::Limiter) and [retries](crate::limits::Retries) of this conversation instead of its own. It is
    /// for whoever makes calls for another conversation, as a sub-agent does: what may be done once there is not to be
    /// done once more by each of those whom it asks.
    ///
    /// ```
    /// use tool_runtime::limits::{Limit, Limiter};
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let send = RuntimeTool::new("mail.send", "Sends a mail.", |()| async { "sent" });
    /// let once = Limiter::new().tool_in_conversation("mail.send", Limit::total(1));
    /// let tools = Dispatcher::builder().tool(send).limit(once).build()?;
    /// let call = |conversation: &'static str| tools.call(ToolCall::from_text("mail.send", "{}").conversation(conversation));
    ///
    /// assert!(call("chat-7").await.success);
    /// assert!(!call("chat-7/helper").counts_for("chat-7").await.success);
    /// # Ok(())
    /// # }
    /// ```
    pub fn counts_for(mut self, conversation: impl Into<String>) -> Self {
        self.rare().counts_for = Some(conversation.into());
        self
    }

    /// Stops the call when the token is cancelled.
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Only says what the call would do, whatever the dispatcher does otherwise: nothing runs, and nobody is asked.
    pub fn dry_run(mut self) -> Self {
        self.rare().dry_run = true;
        self
    }

    /// Answers from the record alone: nothing runs, and nobody is asked. It is for a call of which somebody else may have
    /// done a part. TurnCall that completed is answered as it was then, with `replayed` in the metadata; one that runs is
    /// `Busy`; of any other, and without a journal, it is `OutcomeUnknown`.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::journal::MemoryJournal;
    /// use tool_runtime::{Dispatcher, ErrorKind, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = RuntimeTool::new("pay", "Pays.", |()| async { "paid" });
    /// let tools = Dispatcher::builder().tool(pay).journal(MemoryJournal::new()).build()?;
    /// let call = |id: &'static str| tools.call(ToolCall::new("pay", json!({})).conversation("chat-7").id(id));
    ///
    /// call("call_1").await;
    /// assert_eq!(call("call_1").replay().await.output, "paid");
    /// assert_eq!(call("call_2").replay().await.error.map(|error| error.kind), Some(ErrorKind::OutcomeUnknown));
    /// # Ok(())
    /// # }
    /// ```
    pub fn replay(mut self) -> Self {
        self.rare().replay = true;
        self
    }

    /// Asks this one about this call, if somebody has to be asked, instead of whom the dispatcher asks: whoever holds
    /// the connection on which the call came.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::confirm::{self, Decision};
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let purge = RuntimeTool::new("purge", "Deletes everything.", |()| async { "gone" }).sensitive();
    /// let tools = Dispatcher::builder().tool(purge).build()?;
    /// let visitor = confirm::from_fn(|_| async { Decision::refuse("not today") });
    ///
    /// let result = tools.call(ToolCall::new("purge", json!({}))).confirm(visitor).await;
    /// assert_eq!(result.output, "`purge` was refused: not today.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn confirm(mut self, confirm: impl Confirm) -> Self {
        self.rare().confirm = Some(Arc::new(confirm));
        self
    }

    pub(crate) fn approved(mut self, question: Box<Question>) -> Self {
        self.rare().approved = Some(question);
        self
    }

    pub(crate) fn seat(mut self, seat: Option<TurnSlot>) -> Self {
        if seat.is_some() {
            self.rare().seat = seat;
        }
        self
    }

    pub(crate) fn rare(&mut self) -> &mut CallOptions {
        self.rare.get_or_insert_default()
    }

    /// Finds the tool, checks the arguments, and runs the handler as far as it goes without waiting.
    fn start(&mut self, context: &mut Context<'_>) -> ControlFlow<ToolResult, CallState> {
        let tools = self.tools;
        tools.with_offer(|offer| self.start_on(offer, context))
    }

    #[inline(always)]
    fn start_on(&mut self, offer: &ToolSnapshot, context: &mut Context<'_>) -> ControlFlow<ToolResult, CallState> {
        let inner = &self.tools.inner;
        let Some(tool) = offer.tools.get(&*self.call.name) else {
            return Break(self.at_once(None, ToolResult::failure(offer.unknown_tool(&self.call.name))));
        };
        if self.call.arguments.len() > inner.limits.argument_bytes {
            return Break(self.at_once(Some(tool), ToolResult::failure(self.too_long())));
        }
        if tool.is_renamed || tool.wants_tools {
            self.suit(tool);
        }
        if self.cancel.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return Break(self.at_once(Some(tool), answered(tool, Err(cancelled()))));
        }
        let watched = inner.rules.events.watch(&self.call);
        if (self.is_special() || inner.rules.concern(tool) || watched.is_some() || has_subscriber())
            && let Some(started) = self.start_carefully(tool, watched)
        {
            return started;
        }
        self.start_plainly(tool, context)
    }

    #[inline(always)]
    fn start_plainly(
        &mut self,
        tool: &Arc<BoundTool>,
        context: &mut Context<'_>,
    ) -> ControlFlow<ToolResult, CallState> {
        let inner = &self.tools.inner;
        let mut repaired = None;
        // The invocation is made where it is used: it is large enough for its moves to show.
        let step = panics::catch(|| {
            let ready = match tool.needs_scope {
                true => None,
                false => match self.ready_inputs(tool) {
                    Ok(inputs) => Some(inputs),
                    Err(error) => return Step::Done(Err(scoped::not_run(tool, &error))),
                },
            };
            let reader = Reader {
                text: &self.call.arguments,
                schemas: tool.schemas(),
                allow_unknown: inner.limits.allow_unknown,
                repair: inner.limits.repair,
            };
            let purpose = InvocationPurpose::Call { tool: &tool.name, reader, repaired: &mut repaired };
            first_step(tool.invoke(Invocation { purpose, ready }), context)
        });
        if repaired.is_some() {
            self.rare().repaired = repaired;
        }
        let work = match step {
            Ok(Step::Done(answer)) => return Break(answered(tool, answer)),
            Ok(Step::Refused(error)) => return Break(ToolResult::failure(*error).not_started()),
            Ok(Step::Future(handler)) => HandlerWork::Handler(handler),
            Ok(Step::Blocking(function)) => match Handle::try_current() {
                Ok(runtime) => {
                    let (blocking, answer) = BlockingHandler::start(&runtime, function);
                    HandlerWork::Blocking { blocking, answer }
                }
                Err(_) => return Break(answered(tool, Err(no_runtime()))),
            },
            Ok(Step::Waiting(waiting)) => {
                let Ok(runtime) = Handle::try_current() else { return Break(answered(tool, Err(no_runtime()))) };
                let facts = CallFacts::new(tool.context_of(&self.call), self.timeout_of(tool));
                let scope = ScopeInner::new(inner.dependencies.clone(), std::mem::take(&mut self.with), facts);
                HandlerWork::Scoped {
                    run: Box::pin(scoped::run(tool.clone(), scope.clone(), runtime.clone(), waiting, None)),
                    scope,
                    runtime,
                }
            }
            Err(panic) => return Break(answered(tool, Err(HandlerFailure::new(ErrorKind::Panicked, panic)))),
        };
        let budget = TimeBudget::new(self.timeout_of(tool));
        Continue(CallState::Running(Box::new(RunningHandler::new(tool.clone(), work, budget, self.cancel.take()))))
    }

    /// Starts a call that somebody has to be asked about, that is recorded or only tried, or that is watched. Nothing
    /// if it can take the plain way after all.
    #[cold]
    #[inline(never)]
    fn start_carefully(
        &mut self,
        tool: &Arc<BoundTool>,
        watched: Option<WatchedCall>,
    ) -> Option<ControlFlow<ToolResult, CallState>> {
        let mut told = CallObserver::new(watched, span_of(&self.call, Some(tool)));
        let must = self.is_special() || self.tools.inner.rules.concern(tool);
        let Ok(runtime) = Handle::try_current() else {
            if !must {
                // Whoever only watches does not make a call need what it would not need unwatched.
                self.watch_plainly(tool, told);
                return None;
            }
            let result = answered(tool, Err(no_runtime())).not_started();
            told.ends(&result);
            return Some(Break(result));
        };
        let (approved, dry_run, replay, confirm, seat) = match &mut self.rare {
            Some(rare) => (rare.approved.take(), rare.dry_run, rare.replay, rare.confirm.take(), rare.seat.take()),
            None => (None, false, false, None, None),
        };
        let counts_for = self.rare.as_ref().and_then(|rare| rare.counts_for.clone());
        let stage = approved.as_ref().and_then(|question| question.stage.clone()).unwrap_or_default();
        stage.claim();
        let careful = GuardedCall {
            counts_for,
            inner: self.tools.inner.clone(),
            tool: tool.clone(),
            call: self.call.clone().into_owned(),
            approved,
            stage,
            dry_run,
            replay,
            confirm,
            with: std::mem::take(&mut self.with),
            budget: TimeBudget::new(self.timeout_of(tool)),
            cancel: self.cancel.take(),
            seat: seat.map(Arc::new),
            runtime,
        };
        let span = told.span.clone();
        Some(Continue(CallState::GuardedCall(Box::pin(careful.run(told).instrument(span)))))
    }

    /// Returns `true` if the call takes the careful way whatever its tool is. A call that has yet to take its seat does:
    /// a reload may have made its tool one that nobody is asked about.
    #[inline]
    fn is_special(&self) -> bool {
        let is_special =
            |rare: &CallOptions| rare.dry_run || rare.replay || rare.approved.is_some() || rare.seat.is_some();
        self.rare.as_deref().is_some_and(is_special)
    }

    /// What is asked, limited and recorded is the tool itself, whatever a selection calls it. What the model reads has
    /// the name that it knows.
    #[cold]
    pub(crate) fn suit(&mut self, tool: &BoundTool) {
        if tool.is_renamed {
            let called = std::mem::replace(&mut self.call.name, Cow::Owned(tool.own_name.to_string()));
            self.rare().called = Some(called.into_owned());
        }
        if tool.wants_tools {
            self.with.push(CallValue::new(self.tools.clone()));
        }
    }

    #[inline]
    pub(crate) fn timeout_of(&self, tool: &BoundTool) -> Option<Duration> {
        let said = self.timeout.or(tool.timeout).or(self.tools.inner.limits.timeout);
        match self.rare.as_ref().and_then(|rare| rare.within) {
            None => said,
            Some(within) => Some(said.map_or(within, |said| said.min(within))),
        }
    }

    /// Answers with a result, once it is kept if it is too long.
    #[inline]
    fn answer(&mut self, result: ToolResult, is_judged: bool, context: &mut Context<'_>) -> Poll<ToolResult> {
        self.state = CallState::Done;
        if self.tools.inner.rules.touch_results {
            return self.touch(result, is_judged, context);
        }
        Poll::Ready(self.dressed(result))
    }

    /// Ends tries, unless that was done, and shortens a result that is too long.
    #[cold]
    fn touch(&mut self, result: ToolResult, is_judged: bool, context: &mut Context<'_>) -> Poll<ToolResult> {
        let result = if is_judged { result } else { self.judged(result) };
        match self.keep(result) {
            Ok(result) => Poll::Ready(self.dressed(result)),
            Err(keeping) => {
                self.state = CallState::Keeping(keeping);
                self.poll_keeping(context)
            }
        }
    }

    #[cold]
    fn poll_keeping(&mut self, context: &mut Context<'_>) -> Poll<ToolResult> {
        let CallState::Keeping(keeping) = &mut self.state else { return Poll::Pending };
        let result = std::task::ready!(keeping.as_mut().poll(context));
        self.state = CallState::Done;
        Poll::Ready(self.dressed(result))
    }

    #[inline]
    fn ready_inputs(&self, tool: &BoundTool) -> Result<Inputs, InjectError> {
        let instance = match &tool.instance {
            InstanceSource::Shared(shared) => InstanceInput::Shared(shared.clone()),
            InstanceSource::None
            | InstanceSource::Scope
            | InstanceSource::Exclusive(_)
            | InstanceSource::PerCall { .. } => InstanceInput::None,
        };
        if tool.injections.is_empty() {
            return Ok(Inputs { instance, values: Vec::new() });
        }
        let dependencies = &self.tools.inner.dependencies;
        let values = tool.injections.iter().map(|(_, source)| dependencies.ready_input(*source, &self.with));
        Ok(Inputs { instance, values: values.collect::<Result<_, _>>()? })
    }
}

impl Future for Call<'_> {
    type Output = ToolResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ToolResult> {
        let this = self.get_mut();
        if matches!(this.state, CallState::New) {
            #[cfg(feature = "metrics")]
            {
                this.metrics = Some(crate::metrics::CallMetrics::start());
            }
            match this.start(context) {
                Continue(state) => this.state = state,
                Break(result) => return this.answer(result, false, context),
            }
        }
        let polled = match &mut this.state {
            CallState::Running(running) => Pin::new(&mut **running).poll(context),
            CallState::GuardedCall(call) => match panics::catch(|| call.as_mut().poll(context)) {
                Ok(polled) => polled,
                Err(panic) => {
                    let called = this.rare.as_ref().and_then(|rare| rare.called.as_deref());
                    Poll::Ready(panicked(called.unwrap_or(&this.call.name), &panic))
                }
            },
            CallState::Keeping(_) => return this.poll_keeping(context),
            CallState::New | CallState::Done => panic!("a call was polled after it had answered"),
        };
        let Poll::Ready(result) = polled else {
            #[cfg(feature = "metrics")]
            if let Some(metrics) = &mut this.metrics {
                metrics.waits(&this.call.name);
            }
            return Poll::Pending;
        };
        // On the careful way it was judged before it was recorded.
        let is_judged = matches!(this.state, CallState::GuardedCall(_));
        this.answer(result, is_judged, context)
    }
}

/// Polls an `async` handler for the first time; most answer at once, and nothing needs to be kept for them.
#[inline]
fn first_step(step: Step, context: &mut Context<'_>) -> Step {
    match step {
        Step::Future(mut handler) => match Pin::new(&mut handler).poll(context) {
            Poll::Ready(answer) => Step::Done(answer),
            Poll::Pending => Step::Future(handler),
        },
        other => other,
    }
}
