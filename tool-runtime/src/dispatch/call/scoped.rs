//! A call that must make something before its handler can run.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::call_stage::CallStage;
use crate::dispatch::call::time_budget::timer;
use crate::dispatch::{BoundTool, InstanceSource, ValueSource};
use crate::handler_result::{HandlerFailure, HandlerResult};
use crate::inject::{
    BlockingHandler, InjectError, InjectedValue, Injection, Inputs, InstanceInput, Mode, Scope, ScopeInner,
    blocking_answer,
};
use crate::output::sanitize;
use crate::panics::{self, CatchPanic};
use crate::shim::{Building, Constructor, PreparedHandler, Step};
use crate::{ErrorKind, ToolError, ToolResult};

/// Makes what the handler needs, one after the other, and runs it.
///
/// With a stage, the handler is entered only if its approval was not withdrawn by then, and the stage says that it was.
pub(crate) async fn run(
    tool: Arc<BoundTool>,
    scope: Arc<ScopeInner>,
    runtime: Handle,
    waiting: PreparedHandler,
    stage: Option<CallStage>,
) -> HandlerResult {
    let inputs = inputs(&tool, &scope).await.map_err(|error| not_run(&tool, &error))?;
    if stage.as_ref().is_some_and(|stage| !stage.start()) {
        return Err(HandlerFailure::new(ErrorKind::Cancelled, "was cancelled before it ran"));
    }
    let not_entered = || stage.iter().for_each(CallStage::not_entered);
    match waiting(inputs) {
        Err(error) => {
            not_entered();
            Err(not_run(&tool, &error))
        }
        Ok(Step::Done(answer)) => answer,
        Ok(Step::Future(future)) => future.await,
        Ok(Step::Blocking(function)) => {
            // It is entered on a thread of its own, which may be long in coming.
            not_entered();
            let may_start = move || stage.is_none_or(|stage| stage.start());
            // The scope keeps what it lends until the function has ended.
            let (blocking, answer) = BlockingHandler::start_if(&runtime, may_start, function);
            scope.hold_for(blocking);
            blocking_answer(answer.await)
        }
        Ok(Step::Waiting(_) | Step::Refused(_)) => {
            unreachable!("a shim that has decoded its arguments runs its function")
        }
    }
}

pub(crate) fn not_run(tool: &BoundTool, error: &InjectError) -> Box<HandlerFailure> {
    let message = sanitize(format!("`{}` did not run: {error}.", tool.name));
    let mut failure = HandlerFailure::new(ErrorKind::Injection, message.clone());
    failure.result = Some(ToolResult::failure(ToolError::new(ErrorKind::Injection, message)).not_started());
    failure
}

async fn inputs(tool: &BoundTool, scope: &Arc<ScopeInner>) -> Result<Inputs, InjectError> {
    let instance = match &tool.instance {
        InstanceSource::None => InstanceInput::None,
        InstanceSource::Scope => InstanceInput::Scope(Scope::of(scope.clone())),
        InstanceSource::Shared(shared) => InstanceInput::Shared(shared.clone()),
        InstanceSource::Exclusive(service) => InstanceInput::Locked((service.lock)().await),
        InstanceSource::PerCall { constructor, type_name, injections } => {
            construct(*constructor, type_name, injections, scope).await?
        }
    };
    Ok(Inputs { instance, values: values(&tool.injections, scope).await? })
}

async fn values(
    injections: &[(Injection, ValueSource)],
    scope: &Arc<ScopeInner>,
) -> Result<Vec<InjectedValue>, InjectError> {
    let mut values = Vec::with_capacity(injections.len());
    for (injection, source) in injections {
        let value = scope.clone().input(*source, None).await?;
        if matches!((source, injection.mode), (ValueSource::PerCall(_), Mode::Mut | Mode::Move)) {
            given_back(&value).await;
        }
        values.push(value);
    }
    Ok(values)
}

/// Waits for a value that came with the call while its preview still reads it, on a thread that has outlived its time.
///
/// That is rare enough to look now and then: a notification would be paid for by every value that is lent.
async fn given_back(value: &InjectedValue) {
    while value.is_lent()
        && let Some(timer) = timer(Duration::from_millis(5))
    {
        timer.await;
    }
}

async fn construct(
    constructor: Constructor,
    type_name: &str,
    injections: &[(Injection, ValueSource)],
    scope: &Arc<ScopeInner>,
) -> Result<InstanceInput, InjectError> {
    let inputs = Inputs { instance: InstanceInput::None, values: values(injections, scope).await? };
    let built = match panics::catch(|| (constructor.build)(inputs)) {
        Ok(building) => match building? {
            Building::Ready(built) => Ok(built),
            Building::Future(building) => CatchPanic(building).await,
        },
        Err(panic) => Err(panic),
    };
    let built = built.unwrap_or_else(|panic| Err(format!("it panicked: {panic}")));
    let name = crate::dispatch::build::problem::short_type(type_name);
    built.map(InstanceInput::Own).map_err(|error| InjectError::new(format!("`{name}::new` failed: {error}")))
}
