//! The fast path: from the first poll of a call to its result, for calls that nothing has to guard.
//!
//! Reads top to bottom: [`Call::poll`](Future::poll), [`Call::start`], [`Call::run_fast`]. A call that needs approval,
//! a record, a limit or an observer leaves for the [guarded path](crate::dispatch::guarded) in `start`. Both paths end
//! in [`Call::finalize`](super::finalize).

use std::ops::ControlFlow::{self, Break, Continue};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::messages::{arguments_too_long, cancelled, no_runtime, panicked};
use super::observe::{CallObserver, is_traced};
use super::running_handler::{HandlerWork, RunningHandler, run_in_scope};
use super::time_budget::TimeBudget;
use super::{Call, CallState};
use crate::arguments::ArgumentReader;
use crate::dispatch::dispatcher::snapshot::ToolSnapshot;
use crate::dispatch::guarded::GuardedCall;
use crate::dispatch::{BoundTool, InstanceSource};
use crate::handler_failure::HandlerFailure;
use crate::handler_result::into_tool_result;
use crate::inject::{BlockingHandler, CallFacts, HandlerInputs, InjectError, InstanceInput, ScopeInner};
use crate::shim::{HandlerStep, Invocation, InvocationPurpose};
use crate::{ToolResult, panics};

impl Future for Call<'_> {
    type Output = ToolResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ToolResult> {
        let this = self.get_mut();
        if matches!(this.state, CallState::New) {
            #[cfg(feature = "metrics")]
            {
                this.metrics = Some(crate::metrics::CallMetrics::start());
            }
            let tools = this.tools;
            match tools.with_snapshot(|snapshot| this.start(snapshot, context)) {
                Continue(state) => this.state = state,
                Break(result) => return this.finalize(result, false, context),
            }
        }
        let polled = match &mut this.state {
            CallState::Running(handler) => Pin::new(&mut **handler).poll(context),
            CallState::Guarded(call) => match panics::catch(|| call.as_mut().poll(context)) {
                Ok(polled) => polled,
                Err(panic) => {
                    let called = this.options.as_ref().and_then(|options| options.called.as_deref());
                    Poll::Ready(panicked(called.unwrap_or(&this.call.name), &panic))
                }
            },
            CallState::Spilling(_) => return this.poll_spilling(context),
            CallState::New | CallState::Done => panic!("`Call` polled after completion"),
        };
        let Poll::Ready(result) = polled else {
            #[cfg(feature = "metrics")]
            if let Some(metrics) = &mut this.metrics {
                metrics.waits(&this.call.name);
            }
            return Poll::Pending;
        };
        // The guarded path has counted the retry before it recorded the result.
        let is_retry_counted = matches!(this.state, CallState::Guarded(_));
        this.finalize(result, is_retry_counted, context)
    }
}

impl Call<'_> {
    /// Finds the tool and starts the call on the fast or the guarded path. Breaks with the result if there is one
    /// already.
    #[inline(always)]
    fn start(&mut self, snapshot: &ToolSnapshot, context: &mut Context<'_>) -> ControlFlow<ToolResult, CallState> {
        let inner = &self.tools.inner;
        let tool = match snapshot.tools.get(&*self.call.name) {
            Some(tool) => tool,
            None => match self.replace_alias(snapshot) {
                Some(tool) => tool,
                None => return Break(self.reject(None, ToolResult::failure(snapshot.unknown_tool(&self.call.name)))),
            },
        };
        if self.call.arguments.len() > inner.limits.argument_bytes {
            let error = arguments_too_long(&self.call, inner.limits.argument_bytes);
            return Break(self.reject(Some(tool), ToolResult::failure(error)));
        }
        if tool.is_renamed || tool.wants_tools {
            self.apply_selection(tool);
        }
        if self.cancel.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return Break(self.reject(Some(tool), into_tool_result(Err(cancelled()), &tool.name, None)));
        }
        if (self.needs_guarded_path(tool) || inner.rules.events.has_subscribers() || is_traced())
            && let Some(started) = GuardedCall::start(self, tool)
        {
            return started;
        }
        self.run_fast(tool, context)
    }

    /// Returns `true` if the options of the call or the rules of the dispatcher require the guarded path. A call that
    /// has yet to take its turn slot does so there: a reload may have made its tool one that needs no approval.
    #[inline]
    pub(crate) fn needs_guarded_path(&self, tool: &BoundTool) -> bool {
        let rules = &self.tools.inner.rules;
        let is_guarded = self.options.as_deref().is_some_and(|options| {
            options.dry_run || options.replay || options.approved.is_some() || options.turn_slot.is_some()
        });
        is_guarded || rules.guard_all || (rules.guard_sensitive && tool.sensitive)
    }

    /// Decodes the arguments and runs the handler until it first waits. Most handlers return at once.
    #[inline(always)]
    fn run_fast(&mut self, tool: &Arc<BoundTool>, context: &mut Context<'_>) -> ControlFlow<ToolResult, CallState> {
        let inner = &self.tools.inner;
        let mut repaired = None;
        // The `Invocation` is built inside the call that uses it: moving it costs measurably.
        let step = panics::catch(|| {
            let ready = match tool.needs_scope {
                true => None,
                false => match self.ready_inputs(tool) {
                    Ok(inputs) => Some(inputs),
                    Err(error) => return HandlerStep::Done(Err(HandlerFailure::injection(error))),
                },
            };
            let reader = ArgumentReader {
                text: &self.call.arguments,
                schemas: tool.schemas(),
                allow_unknown: inner.limits.allow_unknown,
                repair: inner.limits.repair,
            };
            let purpose = InvocationPurpose::Call { tool: &tool.name, reader, repaired: &mut repaired };
            match tool.invoke(Invocation { purpose, ready }) {
                HandlerStep::Future(mut handler) => match Pin::new(&mut handler).poll(context) {
                    Poll::Ready(result) => HandlerStep::Done(result),
                    Poll::Pending => HandlerStep::Future(handler),
                },
                step => step,
            }
        });
        if repaired.is_some() {
            self.options().repaired = repaired;
        }
        let describe = inner.rules.describe_errors.as_ref();
        let finished = |result| Break(into_tool_result(result, &tool.name, describe));
        let work = match step {
            Ok(HandlerStep::Done(result)) => return finished(result),
            Ok(HandlerStep::Refused(error)) => return Break(ToolResult::failure(*error).not_started()),
            Ok(HandlerStep::Future(handler)) => HandlerWork::Handler(handler),
            Ok(HandlerStep::Blocking(function)) => match Handle::try_current() {
                Ok(runtime) => {
                    let (blocking, result) = BlockingHandler::start(&runtime, function);
                    HandlerWork::Blocking { blocking, result }
                }
                Err(_) => return finished(Err(no_runtime())),
            },
            Ok(HandlerStep::Waiting(handler)) => {
                let Ok(runtime) = Handle::try_current() else { return finished(Err(no_runtime())) };
                let facts = CallFacts::new(tool.context_of(&self.call), self.timeout_for(tool));
                let facts = facts.spilling(inner.rules.spill.as_ref());
                let scope = ScopeInner::new(inner.dependencies.clone(), std::mem::take(&mut self.values), facts);
                let run = Box::pin(run_in_scope(tool.clone(), scope.clone(), runtime.clone(), handler, None));
                HandlerWork::Scoped { run, scope, runtime }
            }
            Err(panic) => return finished(Err(HandlerFailure::panicked(panic))),
        };
        let budget = TimeBudget::new(self.timeout_for(tool));
        let handler = RunningHandler::new(tool.clone(), work, budget, self.cancel.take(), describe.cloned());
        Continue(CallState::Running(Box::new(handler)))
    }

    /// Collects the instance and the injected values of a tool that needs no scope.
    #[inline]
    fn ready_inputs(&self, tool: &BoundTool) -> Result<HandlerInputs, InjectError> {
        let instance = match &tool.instance {
            InstanceSource::Shared(shared) => InstanceInput::Shared(shared.clone()),
            InstanceSource::None
            | InstanceSource::Scope
            | InstanceSource::Exclusive(_)
            | InstanceSource::PerCall { .. } => InstanceInput::None,
        };
        if tool.injections.is_empty() {
            return Ok(HandlerInputs { instance, values: Vec::new() });
        }
        let dependencies = &self.tools.inner.dependencies;
        let values = tool.injections.iter().map(|(_, source)| dependencies.ready_input(*source, &self.values));
        Ok(HandlerInputs { instance, values: values.collect::<Result<_, _>>()? })
    }

    /// Reports a call that ends before either path, and marks its result as not started.
    #[cold]
    #[inline(never)]
    fn reject(&self, tool: Option<&BoundTool>, result: ToolResult) -> ToolResult {
        CallObserver::report_rejected(&self.tools.inner.rules.events, &self.call, tool, &result);
        result.not_started()
    }
}
