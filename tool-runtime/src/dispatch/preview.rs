//! What a call would do, without making it.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::running::{in_words, no_runtime};
use super::{BoundTool, Call, scoped};
use crate::answer::{Answer, Failure};
use crate::arguments::Reader;
use crate::guard::{self, CatchPanic};
use crate::inject::{Facts, ScopeInner};
use crate::shim::{Invocation, Purpose, Step, Waiting};
use crate::{Effect, ErrorKind, Outcome, ToolError};

impl Call<'_> {
    /// What the call would do, in its tool's own words, without making it; nothing if its tool has no
    /// [preview](Effect).
    ///
    /// The arguments are checked as those of the call are. What is injected into the preview is made for it and rolled
    /// back.
    ///
    /// # Errors
    /// When there is no such tool, when its arguments are wrong, or when the preview itself fails.
    pub async fn preview(self) -> Result<Option<Effect>, ToolError> {
        let inner = &self.tools.inner;
        let tool = self.tools.with_offer(|offer| match offer.tools.get(self.call.name()) {
            Some(tool) => Ok(tool.preview.clone()),
            None => Err(offer.unknown_tool(self.call.name())),
        })?;
        let Some(preview) = tool else { return Ok(None) };
        if self.call.arguments().len() > inner.limits.argument_bytes {
            return Err(self.too_long());
        }
        let reader = Reader {
            text: self.call.arguments(),
            schemas: preview.schemas(),
            allow_unknown: inner.limits.allow_unknown,
            repair: inner.limits.repair,
        };
        let waiting = decoded(&preview, reader)?;
        let timeout = self.timeout.or(preview.timeout).or(inner.limits.timeout);
        let facts = Facts::new(self.call.context(), timeout);
        let scope = ScopeInner::new(inner.dependencies.clone(), self.with, facts);
        let effect = effect(preview, scope, waiting, timeout).await?;
        Ok(Some(effect))
    }
}

/// A preview with its arguments, waiting for its inputs.
pub(super) fn decoded(preview: &BoundTool, reader: Reader<'_>) -> Result<Waiting, ToolError> {
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
pub(super) async fn effect(
    preview: Arc<BoundTool>,
    scope: Arc<ScopeInner>,
    waiting: Waiting,
    timeout: Option<Duration>,
) -> Result<Effect, ToolError> {
    let failed = |failure: Box<Failure>| in_words(&preview, *failure);
    let runtime = Handle::try_current().map_err(|_| failed(no_runtime()))?;
    let run = scoped::run(preview.clone(), scope.clone(), runtime.clone(), waiting);
    let task = runtime.spawn(async move {
        let answer = CatchPanic(Box::pin(limited(run, timeout))).await;
        let answer = answer.unwrap_or_else(|panic| Err(Failure::new(ErrorKind::Panicked, panic)));
        let is_late = matches!(&answer, Err(failure) if failure.kind == ErrorKind::TimedOut);
        let is_held = is_late && scope.revoke();
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

async fn limited(run: impl Future<Output = Answer>, timeout: Option<Duration>) -> Answer {
    let Some(limit) = timeout else { return run.await };
    let late = || Err(Failure::new(ErrorKind::TimedOut, format!("did not finish within {limit:?}")));
    tokio::time::timeout(limit, run).await.unwrap_or_else(|_| late())
}
