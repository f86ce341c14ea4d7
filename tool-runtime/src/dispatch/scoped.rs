//! A call that must make something before its handler can run.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{BoundTool, InstanceSource, Source};
use crate::ErrorKind;
use crate::answer::{Answer, Failure};
use crate::inject::{InjectError, Injection, Inputs, InstanceInput, ScopeInner};
use crate::shim::{Building, Constructor, Step, Waiting};

/// Makes what the handler needs, one after the other, and runs it.
pub(super) async fn run(tool: Arc<BoundTool>, scope: Arc<ScopeInner>, waiting: Waiting) -> Answer {
    let inputs = match inputs(&tool, &scope).await {
        Ok(inputs) => inputs,
        Err(error) => return Err(not_run(&tool, &error)),
    };
    let mut step = waiting(inputs);
    loop {
        step = match step {
            Err(error) => return Err(not_run(&tool, &error)),
            Ok(Step::Done(answer)) => return answer,
            Ok(Step::Future(future)) => return future.await,
            Ok(Step::Blocking(function)) => return on_blocking_thread(function, &scope).await,
            Ok(Step::Refused(error)) => return Err(Failure::new(error.kind, error.message)),
            Ok(Step::Waiting(waiting)) => waiting(Inputs::default()),
        };
    }
}

pub(super) fn not_run(tool: &BoundTool, error: &InjectError) -> Box<Failure> {
    Failure::new(ErrorKind::Injection, format!("`{}` did not run: {error}.", tool.registration.name))
}

async fn inputs(tool: &BoundTool, scope: &Arc<ScopeInner>) -> Result<Inputs, InjectError> {
    let instance = match &tool.instance {
        InstanceSource::None => InstanceInput::None,
        InstanceSource::Shared(shared) => InstanceInput::Shared(shared.clone()),
        InstanceSource::PerCall { constructor, type_name, injections } => {
            construct(*constructor, type_name, injections, scope).await?
        }
    };
    Ok(Inputs { instance, values: values(&tool.injections, scope).await? })
}

async fn values(
    injections: &[(Injection, Source)],
    scope: &Arc<ScopeInner>,
) -> Result<Vec<crate::inject::Input>, InjectError> {
    let mut values = Vec::with_capacity(injections.len());
    for (_, source) in injections {
        values.push(scope.clone().input(*source, None).await?);
    }
    Ok(values)
}

async fn construct(
    constructor: Constructor,
    type_name: &str,
    injections: &[(Injection, Source)],
    scope: &Arc<ScopeInner>,
) -> Result<InstanceInput, InjectError> {
    let inputs = Inputs { instance: InstanceInput::None, values: values(injections, scope).await? };
    let built = match (constructor.build)(inputs)? {
        Building::Ready(built) => built,
        Building::Future(building) => building.await,
    };
    let name = super::problem::short_type(type_name);
    built.map(InstanceInput::Own).map_err(|error| InjectError::new(format!("`{name}::new` failed: {error}")))
}

/// Runs a function on a thread that may block. The scope keeps what it lends until the function has ended.
async fn on_blocking_thread(function: Box<dyn FnOnce() -> Answer + Send>, scope: &ScopeInner) -> Answer {
    let (answered, answer) = oneshot::channel();
    scope.hold_for(tokio::task::spawn_blocking(move || {
        // Nobody may be listening any more; the function has run all the same.
        drop(answered.send(crate::guard::catch(function)));
    }));
    match answer.await {
        Ok(Ok(answer)) => answer,
        Ok(Err(panic)) => Err(Failure::new(ErrorKind::Panicked, panic)),
        Err(_) => Err(Failure::new(ErrorKind::NoRuntime, "the runtime was shut down")),
    }
}
