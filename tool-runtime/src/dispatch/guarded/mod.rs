//! The careful way of a call: what happens when somebody is asked, when it is recorded or only tried, or when somebody
//! watches.
//!
//! Arguments are checked and mended before anybody is asked, and held in the form in which the handler gets them: what
//! is asked is what runs. A deadline covers everything from the call to its answer but two things: the time in which a
//! person makes up their mind, for which a preview may take as long again, and the wait for a place in a turn. The
//! record of the outcome has its own bound.

mod admission;
mod call_record;
mod confirmation;
mod decoded_arguments;
mod dry_run;
mod execution;

use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use self::call_record::UnrecordedCall;
use self::decoded_arguments::{DecodedArguments, of_an_edit};
use self::execution::{CallCompletion, GuardedExecution};
use crate::arguments::Repaired;
use crate::call_stage::CallStage;
use crate::concurrency::RunPermit;
use crate::confirm::{Confirm, Question};
use crate::dispatch::call::messages::{answered, cancelled};
use crate::dispatch::call::observe::CallObserver;
use crate::dispatch::call::time_budget::TimeBudget;
use crate::dispatch::dispatcher::DispatcherState;
use crate::dispatch::turn::turn_slot::TurnSlot;
use crate::dispatch::{BoundTool, CallRules, CallValue};
use crate::handler_result::HandlerFailure;
use crate::journal::JournalDecision;
use crate::panics::CatchPanic;
use crate::shim::PreparedHandler;
use crate::{ErrorKind, ToolCall, ToolError, ToolResult, json};

/// What is said of a call that only the record was to answer.
const NOT_ON_RECORD: &str = "is on no record: whether it has taken effect cannot be said here";

/// A call on its careful way.
pub(crate) struct GuardedCall {
    pub(crate) inner: Arc<DispatcherState>,
    pub(crate) tool: Arc<BoundTool>,
    pub(crate) call: ToolCall<'static>,
    /// The conversation for whose limits it counts, if that is not its own.
    pub(crate) counts_for: Option<String>,
    /// What somebody has given consent to already.
    pub(crate) approved: Option<Box<Question>>,
    pub(crate) stage: CallStage,
    pub(crate) dry_run: bool,
    /// Whether only the record answers.
    pub(crate) replay: bool,
    /// Who is asked about this call, instead of whom the dispatcher asks.
    pub(crate) confirm: Option<Arc<dyn Confirm>>,
    /// What came with the call.
    pub(crate) with: Vec<CallValue>,
    pub(crate) budget: TimeBudget,
    pub(crate) cancel: Option<CancellationToken>,
    /// Its place among the calls of its turn.
    pub(crate) seat: Option<Arc<TurnSlot>>,
    pub(crate) runtime: Handle,
}

/// A call that is to run.
struct AdmittedCall {
    waiting: PreparedHandler,
    ending: CallCompletion,
    permit: Option<RunPermit>,
}

impl GuardedCall {
    /// Decides, runs and records.
    pub(crate) async fn run(self, mut told: CallObserver) -> ToolResult {
        let (mut budget, mut unnoted) = (self.budget, None);
        match self.stoppable(self.prepare(&mut told, &mut budget, &mut unnoted)).await {
            Ok(AdmittedCall { waiting, mut ending, permit }) => {
                ending.told = Some(told);
                GuardedExecution::start(self, waiting, ending, permit, budget).end().await
            }
            Err(mut result) => {
                result.not_started = !self.stage.has_started();
                told.ends(&result);
                if let Some(unnoted) = unnoted {
                    unnoted.note(&result).await;
                }
                *result
            }
        }
    }

    /// Prepares until the call is cancelled. Whatever panics there, the call does not run.
    async fn stoppable<T>(
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
            Some(Err(panic)) => HandlerFailure::new(ErrorKind::Panicked, panic),
            None => cancelled(),
        };
        Err(self.not_run(failure))
    }

    /// Everything up to the handler.
    async fn prepare(
        &self,
        told: &mut CallObserver,
        budget: &mut TimeBudget,
        unnoted: &mut Option<UnrecordedCall>,
    ) -> Result<AdmittedCall, Box<ToolResult>> {
        let rules = &self.inner.rules;
        let read = match &self.approved {
            None => self.read(&self.call.arguments, self.inner.limits.repair),
            Some(question) => self.timed(budget, self.read_approved(question)).await,
        };
        match &read {
            Ok((_, read)) => told.starts(|| self.redact(&read.arguments)),
            Err(_) => told.starts_with_text(&self.call.arguments, &self.tool),
        }
        let (mut waiting, mut read) = read?;
        if rules.trace_arguments {
            told.span.record("gen_ai.tool.call.arguments", json::text(&self.redact(&read.arguments)));
        }
        if self.dry_run || rules.dry_run {
            self.timed(budget, self.note(&read, JournalDecision::DryRun)).await?;
            return Err(self.dry_result(rules, &read).await);
        }
        // A call is known by what the model asked for, whatever somebody has put in its place.
        let known = self.inner.rules.journal.as_ref().map(|_| match &self.approved {
            Some(question) => self.asked(question),
            None => self.started(&read),
        });
        if let Some(known) = &known {
            self.timed(budget, self.recall(&known.key)).await?;
        }
        if self.replay {
            return Err(self.failure(ErrorKind::OutcomeUnknown, NOT_ON_RECORD.to_owned()));
        }
        let key = known.as_ref().map(|known| known.key.clone());
        *unnoted = self.unnoted(known);
        let (decision, edited) = self.consent(rules, &read, budget).await?;
        if let Some(arguments) = edited {
            (waiting, read) = match self.read(&arguments.to_string(), false) {
                Ok(edited) => edited,
                Err(result) => {
                    self.timed(budget, self.note(&read, JournalDecision::WrongEdit)).await?;
                    return Err(of_an_edit(result));
                }
            };
            // Consent is no leave to do what the policy forbids.
            self.timed(budget, self.refuse_by_policy(self.verdict(rules, &read), &read)).await?;
        }
        if let Some(seat) = &self.seat {
            seat.enter().await;
        }
        let admitted = self.timed(budget, self.admit(&read)).await?;
        let permit = self.timed(budget, self.enter(&read)).await?;
        if let Some(unnoted) = unnoted.take() {
            unnoted.settle();
        }
        let record = self.timed(budget, self.begin(&read, key, decision.clone())).await?;
        let ending = CallCompletion {
            inner: self.inner.clone(),
            tool: self.tool.clone(),
            counted_in: self.counted_in().map(str::to_owned),
            is_counted: admitted.counts(),
            stage: self.stage.clone(),
            told: None,
            repaired: read.repaired,
            decision,
            record,
            started: std::time::Instant::now(),
        };
        Ok(AdmittedCall { waiting, ending, permit })
    }

    /// Does a part of the preparation within the time of the call.
    async fn timed<T>(
        &self,
        budget: &mut TimeBudget,
        work: impl Future<Output = Result<T, Box<ToolResult>>>,
    ) -> Result<T, Box<ToolResult>> {
        budget.spend(work).await.map_err(|failure| self.not_run(failure))?
    }

    /// Returns arguments without their secrets.
    fn redact(&self, arguments: &Value) -> Value {
        self.tool.schemas().redaction().redact(arguments)
    }

    fn not_run(&self, failure: Box<HandlerFailure>) -> Box<ToolResult> {
        Box::new(answered(&self.tool, Err(failure)))
    }

    fn failure(&self, kind: ErrorKind, message: String) -> Box<ToolResult> {
        Box::new(ToolResult::failure(ToolError::new(kind, format!("`{}` {message}.", self.tool.name))))
    }
}

fn mend(mut result: ToolResult, repaired: Option<&Repaired>) -> ToolResult {
    if let Some(repaired) = repaired {
        result.metadata.insert("repairs", repaired.values());
    }
    result
}
