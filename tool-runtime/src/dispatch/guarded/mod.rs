//! The guarded path of a call: policy, approval, limits, permits, the journal, dry runs and observation.
//!
//! Reads top to bottom: [`GuardedCall::start`], [`run`](GuardedCall::run), [`prepare`](GuardedCall::prepare), then
//! [`GuardedExecution`]. Nothing runs before it is decided: until then the handler is a closure.
//!
//! Arguments are decoded and repaired before a user is asked, and kept in that form, so that exactly the approved call
//! runs. The timeout covers everything from the call to its result except for two waits: the one for a user's decision,
//! during which a preview has the same timeout once more, and the one for a turn slot. Recording the outcome has its own
//! time limit.

mod admission;
mod call_record;
mod confirmation;
mod decoded_arguments;
mod execution;

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use self::call_record::UnrecordedCall;
use self::decoded_arguments::{DecodedArguments, blame_edit};
use self::execution::{CallCompletion, GuardedExecution};
use crate::arguments::RepairedArguments;
use crate::call_stage::CallStage;
use crate::concurrency::RunPermit;
use crate::confirm::{Confirm, Question};
use crate::dispatch::DispatcherState;
use crate::dispatch::call::messages::{cancelled, no_runtime};
use crate::dispatch::call::observe::CallObserver;
use crate::dispatch::call::time_budget::TimeBudget;
use crate::dispatch::call::{Call, CallState};
use crate::dispatch::turn::turn_slot::TurnSlot;
use crate::dispatch::{BoundTool, CallRules, CallValue};
use crate::handler_failure::HandlerFailure;
use crate::handler_result::into_tool_result;
use crate::journal::JournalDecision;
use crate::panics::CatchPanic;
use crate::shim::PreparedHandler;
use crate::{ErrorKind, ToolCall, ToolError, ToolResult, json};

/// The message of a replayed call that the journal does not know.
const NOT_IN_JOURNAL: &str = "is not in the journal: it is unknown whether it has taken effect";

/// A call on the guarded path.
pub(super) struct GuardedCall {
    inner: Arc<DispatcherState>,
    tool: Arc<BoundTool>,
    call: ToolCall<'static>,
    /// The conversation whose limits the call counts against, unless that is its own.
    counts_for: Option<String>,
    /// The question that a user has approved.
    approved: Option<Box<Question>>,
    stage: CallStage,
    dry_run: bool,
    /// Answers from the journal only.
    replay: bool,
    /// Overrides the dispatcher's confirmer.
    confirmer: Option<Arc<dyn Confirm>>,
    /// The values passed to `Call::with`.
    values: Vec<CallValue>,
    budget: TimeBudget,
    cancel: Option<CancellationToken>,
    turn_slot: Option<Arc<TurnSlot>>,
    runtime: Handle,
}

/// A call that is approved, counted and recorded, and whose handler can start.
struct AdmittedCall {
    handler: PreparedHandler,
    completion: CallCompletion,
    permit: Option<RunPermit>,
}

impl GuardedCall {
    /// Starts a call on the guarded path. Returns `None` if it can take the fast path after all.
    #[cold]
    #[inline(never)]
    pub(super) fn start(call: &mut Call<'_>, tool: &Arc<BoundTool>) -> Option<ControlFlow<ToolResult, CallState>> {
        let watched = call.tools.inner.rules.events.watch(&call.call);
        let mut observer = CallObserver::new(watched, &call.call, Some(tool));
        let Ok(runtime) = Handle::try_current() else {
            if !call.needs_guarded_path(tool) {
                // Observation alone must not make a call need a runtime.
                observer.start_with_text(&call.call.arguments, tool);
                observer.forward_progress(&mut call.values);
                call.options().observer = Some(observer);
                return None;
            }
            let result = into_tool_result(Err(no_runtime()), &tool.name, None).not_started();
            observer.finish(&result);
            return Some(Break(result));
        };
        let budget = TimeBudget::new(call.timeout_for(tool));
        let mut guarded = Self {
            inner: call.tools.inner.clone(),
            tool: tool.clone(),
            call: call.call.clone().into_owned(),
            counts_for: None,
            approved: None,
            stage: CallStage::default(),
            dry_run: false,
            replay: false,
            confirmer: None,
            values: std::mem::take(&mut call.values),
            budget,
            cancel: call.cancel.take(),
            turn_slot: None,
            runtime,
        };
        if let Some(options) = &mut call.options {
            guarded.counts_for.clone_from(&options.counts_for);
            guarded.approved = options.approved.take();
            guarded.dry_run = options.dry_run;
            guarded.replay = options.replay;
            guarded.confirmer = options.confirm.take();
            guarded.turn_slot = options.turn_slot.take().map(Arc::new);
        }
        if let Some(stage) = guarded.approved.as_ref().and_then(|question| question.stage.clone()) {
            guarded.stage = stage;
        }
        guarded.stage.claim();
        let span = observer.span.clone();
        Some(Continue(CallState::Guarded(Box::pin(guarded.run(observer).instrument(span)))))
    }

    /// Prepares the call, runs its handler and records the outcome.
    async fn run(self, mut observer: CallObserver) -> ToolResult {
        let (mut budget, mut unrecorded) = (self.budget, None);
        match self.until_cancelled(self.prepare(&mut observer, &mut budget, &mut unrecorded)).await {
            Ok(admitted) => GuardedExecution::start(self, admitted, observer, budget).run().await,
            Err(mut result) => {
                result.not_started = !self.stage.has_started();
                observer.set_result(&result);
                if let Some(unrecorded) = unrecorded {
                    unrecorded.note(&result).await;
                }
                observer.finish(&result);
                *result
            }
        }
    }

    /// Does everything up to the handler, in this order: decode, dry run, journal, approval, turn slot, limits, permit,
    /// record.
    async fn prepare(
        &self,
        observer: &mut CallObserver,
        budget: &mut TimeBudget,
        unrecorded: &mut Option<UnrecordedCall>,
    ) -> Result<AdmittedCall, Box<ToolResult>> {
        let rules = &self.inner.rules;
        let decoded = match &self.approved {
            None => self.decode(&self.call.arguments, self.inner.limits.repair),
            Some(question) => self.within_budget(budget, self.decode_approved(question)).await,
        };
        match &decoded {
            Ok((_, decoded)) => observer.start(|| self.redact(&decoded.arguments)),
            Err(_) => observer.start_with_text(&self.call.arguments, &self.tool),
        }
        let (mut handler, mut decoded) = decoded?;
        if rules.trace_arguments {
            observer.span.record("gen_ai.tool.call.arguments", json::text(&self.redact(&decoded.arguments)));
        }
        if self.dry_run || rules.dry_run {
            self.within_budget(budget, self.note(&decoded, JournalDecision::DryRun)).await?;
            return Err(self.dry_run_result(rules, &decoded).await);
        }
        // The journal knows a call by the model's arguments, even if a user has edited them.
        let known = rules.journal.as_ref().map(|_| match &self.approved {
            Some(question) => self.approved_entry(question),
            None => self.started_entry(&decoded),
        });
        if let Some(known) = &known {
            self.within_budget(budget, self.check_journal(&known.key)).await?;
        }
        if self.replay {
            return Err(self.failure(ErrorKind::OutcomeUnknown, NOT_IN_JOURNAL.to_owned()));
        }
        let key = known.as_ref().map(|known| known.key.clone());
        *unrecorded = self.unrecorded(known);
        let (decision, edited) = self.approve(rules, &decoded, budget).await?;
        if let Some(arguments) = edited {
            (handler, decoded) = match self.decode_own(&arguments.to_string()) {
                Ok(edited) => edited,
                Err(result) => {
                    self.within_budget(budget, self.note(&decoded, JournalDecision::WrongEdit)).await?;
                    return Err(blame_edit(result));
                }
            };
            // A user cannot approve arguments that the policy forbids.
            self.within_budget(budget, self.refuse_by_policy(self.verdict(rules, &decoded), &decoded)).await?;
        }
        if let Some(slot) = &self.turn_slot {
            slot.enter().await;
        }
        let counted = self.within_budget(budget, self.count(&decoded)).await?;
        let permit = self.within_budget(budget, self.acquire_permit(&decoded)).await?;
        if let Some(unrecorded) = unrecorded.take() {
            unrecorded.settle();
        }
        let record = self.within_budget(budget, self.open_record(&decoded, key, decision.clone())).await?;
        let completion = CallCompletion {
            inner: self.inner.clone(),
            tool: self.tool.clone(),
            conversation: self.counted_conversation().map(str::to_owned),
            is_counted: counted.keep(),
            stage: self.stage.clone(),
            repaired: decoded.repaired,
            decision,
            record,
            started: Instant::now(),
        };
        Ok(AdmittedCall { handler, completion, permit })
    }

    /// Awaits the preparation until the call is cancelled. If it panics, the call does not run.
    async fn until_cancelled<T>(
        &self,
        prepare: impl Future<Output = Result<T, Box<ToolResult>>>,
    ) -> Result<T, Box<ToolResult>> {
        let prepare = CatchPanic(std::pin::pin!(prepare));
        let prepared = match &self.cancel {
            None => Some(prepare.await),
            Some(token) => token.run_until_cancelled(prepare).await,
        };
        let failure = match prepared {
            Some(Ok(prepared)) => return prepared,
            Some(Err(panic)) => HandlerFailure::panicked(panic),
            None => cancelled(),
        };
        Err(self.not_run(failure))
    }

    /// Awaits a part of the preparation within the timeout of the call.
    async fn within_budget<T>(
        &self,
        budget: &mut TimeBudget,
        work: impl Future<Output = Result<T, Box<ToolResult>>>,
    ) -> Result<T, Box<ToolResult>> {
        budget.spend(work).await.map_err(|failure| self.not_run(failure))?
    }

    /// Returns arguments, under their own names, without their secrets.
    fn redact(&self, arguments: &Value) -> Value {
        self.tool.own_schemas().redaction().redact(arguments)
    }

    fn not_run(&self, failure: Box<HandlerFailure>) -> Box<ToolResult> {
        Box::new(into_tool_result(Err(failure), &self.tool.name, self.inner.rules.describe_errors.as_ref()))
    }

    fn failure(&self, kind: ErrorKind, message: String) -> Box<ToolResult> {
        Box::new(ToolResult::failure(ToolError::new(kind, format!("`{}` {message}.", self.tool.name))))
    }
}

fn with_repairs(mut result: ToolResult, repaired: Option<&RepairedArguments>) -> ToolResult {
    if let Some(repaired) = repaired {
        result.metadata.insert("repairs", repaired.values());
    }
    result
}
