//! The careful way of a call: what happens when somebody is asked, when it is recorded or only tried, or when somebody
//! watches.
//!
//! Arguments are checked and mended before anybody is asked, and held in the form in which the handler gets them: what
//! is asked is what runs. A deadline covers everything from the call to its answer but two things: the time in which a
//! person makes up their mind, for which a preview may take as long again, and the wait for a place in a turn. The
//! record of the outcome has its own bound.

mod consent;
mod execution;
mod record;
mod trial;

use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use self::execution::{Ending, Execution};
use super::budget::Budget;
use super::dispatcher::Inner;
use super::seat::Seat;
use super::told::Told;
use super::words::{answered, cancelled};
use super::{BoundTool, Given, Rules};
use crate::answer::Failure;
use crate::arguments::{Reader, Repaired};
use crate::guard::{self, CatchPanic};
use crate::shim::{Invocation, Purpose, Step, Waiting};
use crate::{ErrorKind, Permit, ToolCall, ToolError, ToolResult, redact};

/// A call on its careful way.
pub(super) struct Careful {
    pub(super) inner: Arc<Inner>,
    pub(super) tool: Arc<BoundTool>,
    pub(super) call: ToolCall<'static>,
    /// The arguments that the model asked for, if somebody has given consent already.
    pub(super) asked: Option<Value>,
    pub(super) dry_run: bool,
    /// What came with the call.
    pub(super) with: Vec<Given>,
    pub(super) budget: Budget,
    pub(super) cancel: Option<CancellationToken>,
    /// Its place among the calls of its turn.
    pub(super) seat: Option<Seat>,
    pub(super) runtime: Handle,
}

/// Arguments that were read, as a value to be shown.
struct Read {
    arguments: Value,
    repaired: Option<Box<Repaired>>,
}

/// A call that is to run.
struct Decided {
    waiting: Waiting,
    ending: Ending,
    permit: Option<Permit>,
}

impl Careful {
    /// Decides, runs and records.
    pub(super) async fn run(self, mut told: Told) -> ToolResult {
        let mut budget = self.budget;
        match self.stoppable(self.prepare(&mut told, &mut budget)).await {
            Ok(Decided { waiting, mut ending, permit }) => {
                ending.told = Some(told);
                Execution::start(self, waiting, ending, permit, budget).end().await
            }
            Err(result) => {
                told.ends(&result);
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
            Some(Err(panic)) => Failure::new(ErrorKind::Panicked, panic),
            None => cancelled(),
        };
        Err(self.not_run(failure))
    }

    /// Everything up to the handler.
    async fn prepare(&self, told: &mut Told, budget: &mut Budget) -> Result<Decided, Box<ToolResult>> {
        let rules = &self.inner.rules;
        let read = self.read(&self.call.arguments);
        match &read {
            Ok((_, read)) => told.starts(|| redact(&read.arguments, self.tool.definition())),
            Err(_) => told.starts_with_text(&self.call.arguments, &self.tool),
        }
        let (mut waiting, mut read) = read?;
        if rules.trace_arguments {
            let shown = redact(&read.arguments, self.tool.definition());
            told.span.record("gen_ai.tool.call.arguments", shown.to_string());
        }
        if self.dry_run || rules.dry_run {
            self.timed(budget, self.note(&read, "dry run")).await?;
            return Err(Box::new(self.dry_result(&read).await));
        }
        // A call is known by what the model asked for, whatever somebody has put in its place.
        let asked = self.asked.clone().unwrap_or_else(|| read.arguments.clone());
        self.timed(budget, self.recall(&asked)).await?;
        let (decision, edited) = self.consent(rules, &read, budget).await?;
        if let Some(arguments) = edited {
            (waiting, read) = self.read(&arguments.to_string()).map_err(of_an_edit)?;
            // Consent is no leave to do what the policy forbids.
            self.timed(budget, self.refuse_by_policy(self.verdict(rules, &read), &read)).await?;
        }
        if let Some(seat) = &self.seat {
            seat.enter().await;
        }
        self.admit()?;
        let permit = self.timed(budget, self.enter()).await?;
        let record = self.timed(budget, self.begin(&read, &asked, decision)).await?;
        let ending =
            Ending { told: None, repaired: read.repaired, decision, record, started: std::time::Instant::now() };
        Ok(Decided { waiting, ending, permit })
    }

    /// Does a part of the preparation within the time of the call.
    async fn timed<T>(
        &self,
        budget: &mut Budget,
        work: impl Future<Output = Result<T, Box<ToolResult>>>,
    ) -> Result<T, Box<ToolResult>> {
        budget.spend(work).await.map_err(|failure| self.not_run(failure))?
    }

    /// Reads arguments, mended if need be.
    fn read(&self, text: &str) -> Result<(Waiting, Read), Box<ToolResult>> {
        let limits = &self.inner.limits;
        let mut repaired: Option<Box<Repaired>> = None;
        let reader =
            Reader { text, schemas: self.tool.schemas(), allow_unknown: limits.allow_unknown, repair: limits.repair };
        let purpose = Purpose::Call { tool: &self.call.name, reader, repaired: &mut repaired };
        let waiting = match guard::catch(|| (self.tool.shim.invoke)(Invocation { purpose, ready: None })) {
            Ok(Step::Waiting(waiting)) => waiting,
            // What needs no inputs does nothing yet either: a future that was not polled, a function that was not run.
            Ok(step @ (Step::Future(_) | Step::Blocking(_))) => Box::new(move |_| Ok(step)),
            Ok(Step::Refused(error)) => return Err(Box::new(ToolResult::failure(*error))),
            Ok(_) => return Err(self.failure(ErrorKind::Failed, "could not be prepared".to_owned())),
            Err(panic) => return Err(self.failure(ErrorKind::Panicked, format!("panicked: {panic}"))),
        };
        let read = repaired.as_ref().map_or(text, |repaired| repaired.text.as_str());
        let arguments = match read.trim() {
            "" => Value::Object(serde_json::Map::new()),
            // What the reader passes over, a value may not be able to hold: then nobody could be shown what runs.
            text => serde_json::from_str(text).map_err(|error| {
                let message = format!("was not run: its arguments cannot be shown to anybody: {error}");
                self.failure(ErrorKind::InvalidArguments, message)
            })?,
        };
        Ok((waiting, Read { arguments, repaired }))
    }

    /// Counts the call, where they may come only so often. What does not run does not count.
    fn admit(&self) -> Result<(), Box<ToolResult>> {
        let Some(limiter) = &self.inner.rules.limiter else { return Ok(()) };
        limiter
            .admit(&self.call.name, self.call.conversation_id())
            .map_err(|exceeded| Box::new(ToolResult::failure(exceeded.error(&self.call.name))))
    }

    /// Waits for its turn, where only so many calls run at a time.
    async fn enter(&self) -> Result<Option<Permit>, Box<ToolResult>> {
        let Some(concurrency) = &self.inner.rules.concurrency else { return Ok(None) };
        match concurrency.enter().await {
            Ok(permit) => Ok(Some(permit)),
            Err(busy) => Err(Box::new(ToolResult::failure(busy.error(&self.call.name)))),
        }
    }

    fn not_run(&self, failure: Box<Failure>) -> Box<ToolResult> {
        Box::new(answered(&self.tool, Err(failure)))
    }

    fn failure(&self, kind: ErrorKind, message: String) -> Box<ToolResult> {
        Box::new(ToolResult::failure(ToolError::new(kind, format!("`{}` {message}.", self.call.name))))
    }
}

/// The person who edited the arguments should know that it was that.
fn of_an_edit(mut result: Box<ToolResult>) -> Box<ToolResult> {
    result.output.insert_str(0, "The edited arguments are wrong. ");
    result
}

fn mend(mut result: ToolResult, repaired: Option<&Repaired>) -> ToolResult {
    if let Some(repaired) = repaired {
        result.metadata.insert("repairs", repaired.values());
    }
    result
}
