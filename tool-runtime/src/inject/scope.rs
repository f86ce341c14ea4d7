//! The scope of one call: each provider runs at most once in it, when its value is first needed.

use std::any::{TypeId, type_name};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinHandle;

use super::{Held, Input, Slot};
use crate::Outcome;
use crate::dispatch::{Dependencies, Given, Source};
use crate::guard::CatchPanic;

/// What a provider is given: a handle to the values of the same call.
#[derive(Clone)]
pub struct Scope {
    inner: Arc<ScopeInner>,
    /// The provider that asks.
    asking: Option<usize>,
}

impl Scope {
    /// The value of a name, made by its provider if it does not exist yet.
    ///
    /// # Errors
    /// When there is no such name, when it is of another type, when its provider fails, or when it needs the asking
    /// provider itself.
    pub async fn get<T: Clone + Send + 'static>(&self, name: &str) -> Result<T, InjectError> {
        let dependencies = &self.inner.dependencies;
        let Some((source, type_id, its_type)) = dependencies.by_name(name) else {
            let near = tool_model::nearest(name, dependencies.names());
            let hint = near.first().map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
            return Err(InjectError::new(format!("nothing is provided as {name:?}{hint}")));
        };
        if type_id != TypeId::of::<T>() {
            return Err(InjectError::new(format!("{name:?} is a {its_type}, not a {}", type_name::<T>())));
        }
        self.inner.clone().input(source, self.asking).await?.cloned()
    }

    /// The value of a type: one that came with the call, or the only one provided.
    ///
    /// # Errors
    /// As [`get`](Self::get), and when several values have that type.
    pub async fn value<T: Clone + Send + 'static>(&self) -> Result<T, InjectError> {
        let source = self.inner.dependencies.by_type(TypeId::of::<T>(), type_name::<T>()).map_err(InjectError::new)?;
        self.inner.clone().input(source, self.asking).await?.cloned()
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// Why a value could not be injected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectError {
    message: String,
}

impl InjectError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for InjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InjectError {}

/// The values of one call.
pub(crate) struct ScopeInner {
    dependencies: Arc<Dependencies>,
    /// What came with the call.
    with: Vec<Given>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The values that exist or are being made, in the order in which they were first asked for.
    slots: Vec<(usize, Arc<Slot>)>,
    /// Which provider has asked for which.
    asked: Vec<(usize, usize)>,
    /// A blocking handler, which cannot be stopped.
    blocking: Option<JoinHandle<()>>,
}

impl ScopeInner {
    pub(crate) fn new(dependencies: Arc<Dependencies>, with: Vec<Given>) -> Arc<Self> {
        Arc::new(Self { dependencies, with, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a source, made if need be. `asking` is the provider that wants it, if it is one.
    pub(crate) async fn input(self: Arc<Self>, source: Source, asking: Option<usize>) -> Result<Input, InjectError> {
        let provider = match source {
            Source::Provider(provider) => provider,
            other => return self.dependencies.ready_input(other, &self.with),
        };
        let slot = {
            let mut state = self.state();
            if let Some(asking) = asking {
                state.asked.push((asking, provider));
                if let Some(chain) = cycle(&state.asked, provider, asking) {
                    return Err(InjectError::new(self.describe_cycle(&chain)));
                }
            }
            match state.slots.iter().find(|(index, _)| *index == provider) {
                Some((_, slot)) => slot.clone(),
                None => {
                    let slot = Arc::new(Slot::default());
                    state.slots.push((provider, slot.clone()));
                    slot
                }
            }
        };
        let make = || async {
            let provider_of = &self.dependencies.providers[provider];
            let scope = Scope { inner: self.clone(), asking: Some(provider) };
            let held = (provider_of.make)(scope)
                .await
                .map_err(|error| InjectError::new(format!("the provider {:?} failed: {error}", provider_of.name)))?;
            slot.put(held);
            Ok(())
        };
        slot.made.get_or_try_init(make).await?;
        Ok(Input::Slot(slot.clone()))
    }

    fn describe_cycle(&self, chain: &[usize]) -> String {
        let names: Vec<&str> = chain.iter().map(|&index| self.dependencies.providers[index].name.as_str()).collect();
        format!("the providers need each other in a circle: {}", names.join(" -> "))
    }

    /// Remembers a blocking handler: what it was lent is finished only after it.
    pub(crate) fn hold_for(&self, blocking: JoinHandle<()>) {
        self.state().blocking = Some(blocking);
    }

    /// Whether a blocking handler is still running.
    pub(crate) fn is_held(&self) -> bool {
        self.state().blocking.as_ref().is_some_and(|blocking| !blocking.is_finished())
    }

    /// Finishes every value, the newest first. All are finished, even if one fails; the first error is given back.
    pub(crate) async fn finish(self: Arc<Self>, outcome: Outcome) -> Result<(), String> {
        let blocking = self.state().blocking.take();
        if let Some(blocking) = blocking {
            drop(blocking.await);
        }
        let slots = std::mem::take(&mut self.state().slots);
        let mut result = Ok(());
        for (index, slot) in slots.into_iter().rev() {
            let provider = &self.dependencies.providers[index];
            let finished = finish_one(provider.finish.as_ref(), slot.take(), outcome).await;
            if let Err(error) = finished {
                tracing::warn!(provider = %provider.name, %error, "a value could not be finished");
                result = result.and(Err(format!("{:?} could not be finished: {error}", provider.name)));
            }
        }
        result
    }
}

async fn finish_one(hook: Option<&super::FinishHook>, held: Held, outcome: Outcome) -> super::FinishResult {
    let Some(hook) = hook else { return Ok(()) };
    if matches!(held, Held::Empty) {
        // Its provider failed, or the handler has taken it.
        return Ok(());
    }
    let future = crate::guard::catch(|| (hook.finish)(held, outcome));
    match future {
        Ok(Some(future)) => CatchPanic(future).await.unwrap_or_else(|panic| Err(format!("it panicked: {panic}"))),
        Ok(None) => Err("somebody still holds it".to_owned()),
        Err(panic) => Err(format!("it panicked: {panic}")),
    }
}

/// The chain from `from` through what was asked to `to` and back to `from`, if there is one.
fn cycle(asked: &[(usize, usize)], from: usize, to: usize) -> Option<Vec<usize>> {
    fn search(asked: &[(usize, usize)], at: usize, to: usize, chain: &mut Vec<usize>) -> bool {
        if chain.contains(&at) {
            return false;
        }
        chain.push(at);
        if at == to || asked.iter().filter(|(asker, _)| *asker == at).any(|&(_, next)| search(asked, next, to, chain)) {
            return true;
        }
        chain.pop();
        false
    }
    let mut chain = Vec::new();
    search(asked, from, to, &mut chain).then(|| {
        // Told from the asking provider on: to -> from -> ... -> to.
        chain.insert(0, to);
        chain
    })
}
