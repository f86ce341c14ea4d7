//! What a call would do, without making it.

use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::budget::Budget;
use super::dispatcher::Inner;
use super::words::{cancelled, in_words, no_runtime};
use super::{BoundTool, Call, Given, scoped};
use crate::answer::{Answer, Failure};
use crate::arguments::Reader;
use crate::guard::{self, CatchPanic};
use crate::inject::{Facts, ScopeInner, Stopping};
use crate::shim::{Invocation, Purpose, Step, Waiting};
use crate::{Effect, ErrorKind, Outcome, Progress, ToolCall, ToolError};

impl Call<'_> {
    /// What the call would do, in its tool's own words, without making it; nothing if its tool has no
    /// [preview](Effect).
    ///
    /// The arguments are checked as those of the call are, it takes a place among the calls that run at a time, and it
    /// may take as long as the call. What is injected into the preview is made for it and rolled back; nobody hears of
    /// its progress.
    ///
    /// # Errors
    /// When there is no such tool, when its arguments are wrong, or when the preview itself fails.
    pub async fn preview(mut self) -> Result<Option<Effect>, ToolError> {
        let inner = &self.tools.inner;
        let tool = self.tools.with_offer(|offer| match offer.tools.get(self.call.name()) {
            Some(tool) => Ok(tool.clone()),
            None => Err(offer.unknown_tool(self.call.name())),
        })?;
        let Some(preview) = tool.preview.clone() else { return Ok(None) };
        if self.call.arguments().len() > inner.limits.argument_bytes {
            return Err(self.too_long());
        }
        self.suit(&tool);
        let limit = self.timeout_of(&preview);
        let previewed =
            of(inner, preview.clone(), &self.call, (self.call.arguments(), inner.limits.repair), &self.with, limit);
        let effect = match &self.cancel {
            None => previewed.await,
            Some(token) => {
                token.run_until_cancelled(previewed).await.unwrap_or_else(|| Err(in_words(&preview, *cancelled())))
            }
        };
        effect.map(Some)
    }
}

/// What a call with these arguments would do, which may be mended or not.
///
/// A preview has a place among the calls that run at a time, and as long as its call has. It sees what came with the
/// call, but cannot take it away, nor does it report to whoever listens to the call.
pub(super) async fn of(
    inner: &Inner,
    preview: Arc<BoundTool>,
    call: &ToolCall<'_>,
    (text, repair): (&str, bool),
    with: &[Given],
    limit: Option<Duration>,
) -> Result<Effect, ToolError> {
    let reader = Reader { text, schemas: preview.schemas(), allow_unknown: inner.limits.allow_unknown, repair };
    let waiting = decoded(&preview, reader)?;
    let mut budget = Budget::new(limit);
    let permit = match &inner.rules.concurrency {
        None => None,
        Some(concurrency) => match budget.spend(concurrency.enter()).await {
            Ok(entered) => Some(entered.map_err(|busy| busy.error(&preview.name))?),
            Err(failure) => return Err(in_words(&preview, *failure)),
        },
    };
    let with = with.iter().filter(|given| given.type_id != TypeId::of::<Progress>()).cloned().collect();
    let facts = Facts::new(call.context(), budget.left).holding(permit);
    let scope = ScopeInner::new(inner.dependencies.clone(), with, facts);
    effect(preview, scope, waiting, budget).await
}

/// A preview with its arguments, waiting for its inputs.
fn decoded(preview: &BoundTool, reader: Reader<'_>) -> Result<Waiting, ToolError> {
    let mut repaired = None;
    let purpose = Purpose::Call { tool: &preview.name, reader, repaired: &mut repaired };
    let invocation = Invocation { purpose, ready: None };
    match guard::catch(|| preview.invoke(invocation)) {
        Ok(Step::Waiting(waiting)) => Ok(waiting),
        Ok(Step::Refused(error)) => Err(*error),
        Ok(step) => Ok(Box::new(move |_| Ok(step))),
        Err(panic) => Err(in_words(preview, *Failure::new(ErrorKind::Panicked, panic))),
    }
}

/// Runs a preview in a scope and rolls it back. It has a task of its own: dropped meanwhile, it still ends.
async fn effect(
    preview: Arc<BoundTool>,
    scope: Arc<ScopeInner>,
    waiting: Waiting,
    mut budget: Budget,
) -> Result<Effect, ToolError> {
    let failed = |failure: Box<Failure>| in_words(&preview, *failure);
    let runtime = Handle::try_current().map_err(|_| failed(no_runtime()))?;
    let run = scoped::run(preview.clone(), scope.clone(), runtime.clone(), waiting, None);
    let task = runtime.spawn(async move {
        let answer = CatchPanic(Box::pin(budget.spend(run))).await;
        let answer: Answer = match answer {
            Ok(in_time) => in_time.unwrap_or_else(Err),
            Err(panic) => Err(Failure::new(ErrorKind::Panicked, panic)),
        };
        let is_late = matches!(&answer, Err(failure) if failure.kind == ErrorKind::TimedOut);
        let is_held = is_late && scope.revoke() == Stopping::StillRuns;
        let finished = tokio::spawn(scope.finish(Outcome::Cancelled));
        // A thread that blocks cannot be stopped; nobody waits for it.
        if !is_held {
            finished.await.unwrap_or_else(|error| Err(error.to_string()))?;
        }
        Ok::<Answer, String>(answer)
    });
    let answer = match task.await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => Err(Failure::new(ErrorKind::Finish, error)),
        Err(error) => Err(Failure::new(ErrorKind::Failed, format!("the preview's task ended: {error}"))),
    };
    let output = answer.map_err(failed)?;
    serde_json::from_str(&output.text).map_err(|error| failed(Failure::new(ErrorKind::Failed, error.to_string())))
}
