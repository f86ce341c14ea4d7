//! A check that runs every provider once.

use std::pin::Pin;

use tokio::runtime::Handle;

use crate::CallOutcome;
use crate::detach_on_drop::DetachOnDrop;
use crate::dispatch::{BuildError, BuildProblem, CallValue, Dispatcher, ValueSource};
use crate::handler_failure::ErrorChain;
use crate::inject::{CallFacts, ScopeInner};
use crate::panics::CatchPanic;

/// A check of every provider; see [`Dispatcher::check`]. Await it. Dropping it rolls back in the background.
#[must_use = "a check does nothing unless it is awaited"]
pub struct ProviderCheck<'a> {
    tools: &'a Dispatcher,
    values: Vec<CallValue>,
}

impl<'a> ProviderCheck<'a> {
    pub(crate) fn new(tools: &'a Dispatcher) -> Self {
        Self { tools, values: Vec::new() }
    }

    /// Adds a per-call value, for providers that ask for one.
    pub fn with<T: Send + 'static>(mut self, value: T) -> Self {
        self.values.push(CallValue::new(value));
        self
    }
}

impl<'a> IntoFuture for ProviderCheck<'a> {
    type Output = Result<(), BuildError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let dependencies = &self.tools.inner.dependencies;
            let hint = match self.values.is_empty() {
                true => "; if it reads a value that calls bring, pass one for the check: `tools.check().with(value)`",
                false => "",
            };
            let mut problems = Vec::new();
            let scope = ScopeInner::new(dependencies.clone(), self.values, CallFacts::default());
            // Created first, so that a check that is dropped early rolls back, too.
            let rollback = DetachOnDrop::new(Handle::try_current().ok(), scope.clone().finish(CallOutcome::Cancelled));
            for (index, provider) in dependencies.providers.iter().enumerate() {
                let made = CatchPanic(Box::pin(scope.clone().input(ValueSource::Provider(index), None))).await;
                let error = match made {
                    Ok(Ok(_)) => continue,
                    Ok(Err(error)) => ErrorChain(&error).to_string(),
                    Err(panic) => format!("it panicked: {panic}"),
                };
                let message = format!("the provider {:?} does not work", provider.name);
                problems.push(BuildProblem::general(message, error + hint));
            }
            if let Err(error) = rollback.await {
                problems
                    .push(BuildProblem::general("a value could not be rolled back", ErrorChain(&*error).to_string()));
            }
            if problems.is_empty() {
                Ok(())
            } else {
                Err(BuildError { headline: "the dispatcher does not work", problems })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::*;
    use crate::inject::InjectError;

    type Finished = Arc<Mutex<Vec<CallOutcome>>>;

    /// Returns a builder with a provider whose rollback takes this long.
    fn builder(rollback: Duration) -> (crate::Builder, Finished) {
        let finished = Finished::default();
        let finish = {
            let finished = finished.clone();
            move |_: u32, outcome| {
                let finished = finished.clone();
                async move {
                    tokio::time::sleep(rollback).await;
                    finished.lock().unwrap().push(outcome);
                }
            }
        };
        let builder = Dispatcher::builder().allow_empty().provide("session", |_| async { Ok::<_, InjectError>(7_u32) });
        (builder.finish("session", finish), finished)
    }

    #[tokio::test]
    async fn says_how_to_pass_a_value_that_a_provider_reads() {
        let builder = Dispatcher::builder().allow_empty().provide("user", |scope: crate::Scope| async move {
            scope.given::<&'static str>().ok_or("nobody is logged in")
        });
        let tools = builder.build().unwrap();
        let error = tools.check().await.unwrap_err().to_string();
        assert!(error.contains("nobody is logged in; if it reads a value that calls bring"), "{error}");
        assert!(error.contains("`tools.check().with(value)`"), "{error}");
        assert!(tools.check().with("ada").await.is_ok());
        let error = tools.check().with(7).await.unwrap_err().to_string();
        assert!(!error.contains("tools.check()"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_a_check_rolls_back() {
        let (builder, finished) = builder(Duration::ZERO);
        let tools = builder.provide("slow", |_| std::future::pending::<Result<u64, InjectError>>()).build().unwrap();
        assert!(tokio::time::timeout(Duration::from_secs(1), tools.check().into_future()).await.is_err());
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(*finished.lock().unwrap(), [CallOutcome::Cancelled]);
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_a_check_during_its_rollback_completes_the_rollback() {
        let (builder, finished) = builder(Duration::from_secs(2));
        let tools = builder.build().unwrap();
        assert!(tokio::time::timeout(Duration::from_secs(1), tools.check().into_future()).await.is_err());
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(*finished.lock().unwrap(), [CallOutcome::Cancelled]);
    }
}
