//! The execution of a guarded call: its handler, and the completion that follows.

use std::sync::Arc;
use std::time::Instant;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::call_record::OpenRecord;
use super::{AdmittedCall, GuardedCall, with_repairs};
use crate::ToolResult;
use crate::arguments::RepairedArguments;
use crate::call_stage::CallStage;
use crate::dispatch::BoundTool;
use crate::dispatch::DispatcherState;
use crate::dispatch::call::observe::CallObserver;
use crate::dispatch::call::running_handler::{HandlerWork, RunningHandler, run_in_scope};
use crate::dispatch::call::time_budget::TimeBudget;
use crate::dispatch::turn::turn_slot::TurnSlot;
use crate::handler_failure::{BoxError, log_error};
use crate::inject::{CallFacts, ScopeInner};
use crate::journal::JournalDecision;
use crate::panics::CatchPanic;

/// Everything that has to be done once the handler is over.
pub(super) struct CallCompletion {
    pub(super) inner: Arc<DispatcherState>,
    pub(super) tool: Arc<BoundTool>,
    /// The conversation whose limits and retries the call counts against.
    pub(super) conversation: Option<String>,
    /// Set if a limiter has counted the call.
    pub(super) is_counted: bool,
    pub(super) stage: CallStage,
    pub(super) repaired: Option<Box<RepairedArguments>>,
    pub(super) decision: JournalDecision,
    pub(super) record: Option<OpenRecord>,
    pub(super) started: Instant,
}

/// A running handler. If it is dropped, its outcome is still recorded and reported.
pub(super) struct GuardedExecution {
    handler: RunningHandler,
    completion: Option<(CallCompletion, CallObserver)>,
    cancel: Option<CancellationToken>,
    runtime: Handle,
    /// Held until the handler is over.
    _turn_slot: Option<Arc<TurnSlot>>,
}

impl GuardedExecution {
    pub(super) fn start(call: GuardedCall, admitted: AdmittedCall, observer: CallObserver, budget: TimeBudget) -> Self {
        let AdmittedCall { handler, completion, permit } = admitted;
        let GuardedCall { inner, tool, call, mut values, cancel, turn_slot, runtime, stage, .. } = call;
        observer.forward_progress(&mut values);
        let facts = CallFacts::new(tool.context_of(&call), budget.left).holding(permit);
        let facts = facts.spilling(inner.rules.spill.as_ref());
        let scope = ScopeInner::new(inner.dependencies.clone(), values, facts);
        let run = Box::pin(run_in_scope(tool.clone(), scope.clone(), runtime.clone(), handler, Some(stage)));
        let work = HandlerWork::Scoped { run, scope, runtime: runtime.clone() };
        let handler = RunningHandler::new(tool, work, budget, cancel.clone(), inner.rules.describe_errors.clone());
        Self { handler, completion: Some((completion, observer)), cancel, runtime, _turn_slot: turn_slot }
    }

    /// Runs the handler, then records and reports the outcome.
    pub(super) async fn run(mut self) -> ToolResult {
        let result = (&mut self.handler).await;
        match self.completion.take() {
            Some((completion, observer)) => completion.complete(result, observer, self.cancel.as_ref()).await,
            None => result,
        }
    }
}

impl Drop for GuardedExecution {
    fn drop(&mut self) {
        let Some((completion, observer)) = self.completion.take() else { return };
        let abandoned = self.handler.abandon();
        let completed = async move {
            completion.complete(abandoned.await, observer, None).await;
        };
        self.runtime.spawn(completed.in_current_span());
    }
}

impl CallCompletion {
    /// Completes the call. The outcome is recorded before the observer reports it.
    async fn complete(
        mut self,
        result: ToolResult,
        mut observer: CallObserver,
        cancel: Option<&CancellationToken>,
    ) -> ToolResult {
        // From here on, a handler that still waits for a thread must not start.
        let has_started = !self.stage.withdraw();
        let mut result = self.count_retry(with_repairs(result, self.repaired.as_deref()));
        result.not_started = !has_started;
        let took = self.started.elapsed();
        result.metadata.insert("milliseconds", took.as_secs_f64() * 1e3);
        result.metadata.insert("decision", self.decision.as_str());
        if !has_started
            && self.is_counted
            && let Some(limiter) = &self.inner.rules.limiter
        {
            // A call that did not run does not count.
            limiter.take_back(&self.tool.own_name, self.conversation.as_deref());
        }
        observer.set_result(&result);
        if let Some(record) = self.record.take() {
            // A journal is application code and may panic.
            let written = CatchPanic(Box::pin(record.finish(&result, took, cancel))).await;
            let written = written.unwrap_or_else(|panic| {
                log_error(&self.tool.name, "the journal panicked", &*BoxError::from(panic));
                false
            });
            if !written {
                result.metadata.insert("recorded", false);
            }
        }
        observer.finish(&result);
        result
    }

    /// Applies the retry limit, before the outcome is recorded, so that the caller, the journal and the subscribers see
    /// the same result.
    fn count_retry(&self, result: ToolResult) -> ToolResult {
        let Some(retries) = &self.inner.rules.retries else { return result };
        retries.count(self.conversation.as_deref(), &self.tool.own_name, Some(&self.tool.name), result)
    }
}
