//! A handler that runs on the careful way, and what is owed when it is over.

use std::sync::Arc;
use std::time::Instant;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::call_record::OpenRecord;
use super::{GuardedCall, mend};
use crate::ToolResult;
use crate::arguments::Repaired;
use crate::call_stage::CallStage;
use crate::concurrency::RunPermit;
use crate::dispatch::BoundTool;
use crate::dispatch::call::observe::CallObserver;
use crate::dispatch::call::running::{HandlerWork, RunningHandler};
use crate::dispatch::call::scoped;
use crate::dispatch::call::time_budget::TimeBudget;
use crate::dispatch::dispatcher::DispatcherState;
use crate::inject::{CallFacts, ScopeInner};
use crate::journal::JournalDecision;
use crate::panics::CatchPanic;
use crate::shim::PreparedHandler;

/// What has to be done once the handler is over.
pub(crate) struct CallCompletion {
    pub(crate) inner: Arc<DispatcherState>,
    pub(crate) tool: Arc<BoundTool>,
    /// The conversation for whose limits and retries it counts.
    pub(crate) counted_in: Option<String>,
    /// Whether a limiter has counted it.
    pub(crate) is_counted: bool,
    pub(crate) stage: CallStage,
    pub(crate) told: Option<CallObserver>,
    pub(crate) repaired: Option<Box<Repaired>>,
    pub(crate) decision: JournalDecision,
    pub(crate) record: Option<OpenRecord>,
    pub(crate) started: Instant,
}

/// A handler that runs. Dropped, what became of it is still recorded and told.
pub(crate) struct GuardedExecution {
    running: RunningHandler,
    ending: Option<CallCompletion>,
    cancel: Option<CancellationToken>,
    runtime: Handle,
    /// The place in its turn, held until the handler is over.
    _seat: Option<Arc<crate::dispatch::turn::turn_slot::TurnSlot>>,
}

impl GuardedExecution {
    pub(crate) fn start(
        call: GuardedCall,
        waiting: PreparedHandler,
        ending: CallCompletion,
        permit: Option<RunPermit>,
        budget: TimeBudget,
    ) -> Self {
        let GuardedCall { inner, tool, call, mut with, cancel, seat, runtime, stage, .. } = call;
        if let Some(told) = &ending.told {
            told.listen(&mut with);
        }
        let facts = CallFacts::new(tool.context_of(&call), budget.left).holding(permit);
        let scope = ScopeInner::new(inner.dependencies.clone(), with, facts);
        let run = Box::pin(scoped::run(tool.clone(), scope.clone(), runtime.clone(), waiting, Some(stage)));
        let work = HandlerWork::Scoped { run, scope, runtime: runtime.clone() };
        let running = RunningHandler::new(tool, work, budget, cancel.clone());
        Self { running, ending: Some(ending), cancel, runtime, _seat: seat }
    }

    /// Runs the handler, records what came of it and gives it back.
    pub(crate) async fn end(mut self) -> ToolResult {
        let result = (&mut self.running).await;
        match self.ending.take() {
            Some(ending) => ending.end(result, self.cancel.as_ref()).await,
            None => result,
        }
    }
}

impl Drop for GuardedExecution {
    fn drop(&mut self) {
        let Some(ending) = self.ending.take() else { return };
        let abandoned = self.running.abandon();
        let ended = async move {
            ending.end(abandoned.await, None).await;
        };
        self.runtime.spawn(ended.in_current_span());
    }
}

impl CallCompletion {
    /// The outcome is on record before anybody is told.
    async fn end(mut self, result: ToolResult, cancel: Option<&CancellationToken>) -> ToolResult {
        // TurnCall that waits for a thread does not start any more, whoever is faster.
        let has_started = !self.stage.withdraw();
        let mut result = self.judged(mend(result, self.repaired.as_deref()));
        result.not_started = !has_started;
        let took = self.started.elapsed();
        result.metadata.insert("milliseconds", took.as_secs_f64() * 1e3);
        result.metadata.insert("decision", self.decision.as_str());
        if !has_started && self.is_counted {
            self.take_back();
        }
        if let Some(told) = &mut self.told {
            told.ends(&result);
        }
        if let Some(record) = self.record.take() {
            // A journal is somebody else's code.
            let written = CatchPanic(Box::pin(record.finish(&result, took, cancel))).await;
            if !written.unwrap_or(false) {
                result.metadata.insert("recorded", false);
            }
        }
        result
    }

    /// Ends tries. Before the outcome is recorded, so that the caller, the record and whoever watches hear the same.
    fn judged(&self, result: ToolResult) -> ToolResult {
        match &self.inner.rules.tries {
            None => result,
            Some(tries) => tries.judge(self.counted_in.as_deref(), &self.tool.own_name, Some(&self.tool.name), result),
        }
    }

    /// Counts the call no more: what does not run has not been called.
    fn take_back(&self) {
        if let Some(limiter) = &self.inner.rules.limiter {
            limiter.take_back(&self.tool.own_name, self.counted_in.as_deref());
        }
    }
}
