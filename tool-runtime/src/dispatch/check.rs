//! A trial of every provider.

use std::pin::Pin;

use tokio::runtime::Handle;

use super::{BuildError, Dispatcher, Given, Problem, Source};
use crate::Outcome;
use crate::guard::CatchPanic;
use crate::inject::{Facts, ScopeInner};
use crate::to_the_end::ToTheEnd;

/// A trial of every provider; see [`Dispatcher::check`]. Await it. Dropped meanwhile, it rolls back in the background.
#[must_use = "a check does nothing unless it is awaited"]
pub struct Check<'a> {
    tools: &'a Dispatcher,
    with: Vec<Given>,
}

impl<'a> Check<'a> {
    pub(super) fn new(tools: &'a Dispatcher) -> Self {
        Self { tools, with: Vec::new() }
    }

    /// A value that would come with a call, for providers that ask for it.
    pub fn with<T: Send + 'static>(mut self, value: T) -> Self {
        self.with.push(Given::new(value));
        self
    }
}

impl<'a> IntoFuture for Check<'a> {
    type Output = Result<(), BuildError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let dependencies = &self.tools.inner.dependencies;
            let mut problems = Vec::new();
            let scope = ScopeInner::new(dependencies.clone(), self.with, Facts::default());
            // Before anything is made: a check that is dropped in the middle rolls back, too.
            let rollback = ToTheEnd::new(Handle::try_current().ok(), scope.clone().finish(Outcome::Cancelled));
            for (index, provider) in dependencies.providers.iter().enumerate() {
                let made = CatchPanic(Box::pin(scope.clone().input(Source::Provider(index), None))).await;
                let error = match made {
                    Ok(Ok(_)) => continue,
                    Ok(Err(error)) => error.to_string(),
                    Err(panic) => format!("it panicked: {panic}"),
                };
                problems.push(Problem::general(format!("the provider {:?} does not work", provider.name), error));
            }
            if let Err(error) = rollback.await {
                problems.push(Problem::general("a value could not be rolled back", error));
            }
            if problems.is_empty() {
                Ok(())
            } else {
                Err(BuildError { headline: "the dispatcher does not work", problems })
            }
        })
    }
}
