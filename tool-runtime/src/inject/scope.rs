//! The scope of one call: each provider runs at most once in it, when its value is first needed.

use std::any::{TypeId, type_name};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{BlockingHandler, CallFacts, HeldValue, InjectedValue, StopOutcome, ValueSlot};
use crate::dispatch::{CallValue, Dependencies, ValueSource};
use crate::inject::{Deadline, Notes};
use crate::panics::CatchPanic;
use crate::{CallOutcome, CancellationToken, Context, Progress};

/// What a provider is given, and the handler of a [tool made at run time](crate::RuntimeTool): a handle to the values of
/// the same call.
#[derive(Clone)]
pub struct Scope {
    inner: Arc<ScopeInner>,
    /// The provider that asks.
    asking: Option<usize>,
}

impl Scope {
    /// The scope as a handler has it.
    pub(crate) fn of(inner: Arc<ScopeInner>) -> Self {
        Self { inner, asking: None }
    }

    /// Where the call comes from.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.inner.facts.context
    }

    /// Returns the time by which the call has to be over. It is fixed when the call starts, before its providers run.
    #[must_use]
    pub fn deadline(&self) -> Deadline {
        self.inner.facts.deadline
    }

    /// Returns a token that is cancelled when the call is stopped: when its time is up, or when its caller cancels or
    /// drops it. After that, the token is cancelled from the start.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        self.inner.facts.cancellation()
    }

    /// Where to report how far the call is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let progress = self.inner.dependencies.ready_input(ValueSource::Progress, &self.inner.with);
        progress.and_then(|progress| progress.cloned()).unwrap_or_default()
    }

    /// A value that came with the call itself, through [`Call::with`](crate::Call::with), whether or not the builder knows
    /// its type: for a tool that can be told more, and need not be.
    #[must_use]
    pub fn given<T: Clone + Send + 'static>(&self) -> Option<T> {
        let given = self.inner.with.iter().find(|given| given.type_id == TypeId::of::<T>())?;
        InjectedValue::Slot(given.slot.clone()).cloned().ok()
    }

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
        let source =
            self.inner.dependencies.by_type(TypeId::of::<T>(), None, type_name::<T>()).map_err(InjectError::new)?;
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
    with: Vec<CallValue>,
    facts: CallFacts,
    state: Mutex<ScopeState>,
}

#[derive(Default)]
struct ScopeState {
    /// The values that exist or are being made.
    slots: Vec<(usize, Arc<ValueSlot>)>,
    /// Those that exist, in the order in which they were made: what a value needs was made before it.
    made: Vec<(usize, Arc<ValueSlot>)>,
    /// Which provider has asked for which.
    asked: Vec<(usize, usize)>,
    /// A blocking handler, which cannot be stopped once it runs.
    blocking: Option<BlockingHandler>,
    /// Whether the call is over: nothing is made any more.
    closed: bool,
}

impl ScopeInner {
    pub(crate) fn new(dependencies: Arc<Dependencies>, with: Vec<CallValue>, facts: CallFacts) -> Arc<Self> {
        Arc::new(Self { dependencies, with, facts, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, ScopeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a source, made if need be. `asking` is the provider that wants it, if it is one.
    pub(crate) async fn input(
        self: Arc<Self>,
        source: ValueSource,
        asking: Option<usize>,
    ) -> Result<InjectedValue, InjectError> {
        let provider = match source {
            ValueSource::Provider(provider) => provider,
            ValueSource::Fact(fact) => return Ok(self.facts.input(fact)),
            other => {
                if other == ValueSource::Tools {
                    // Whoever calls others waits for them, and they may wait for its place.
                    self.facts.permit.release();
                }
                return self.dependencies.ready_input(other, &self.with);
            }
        };
        let slot = {
            let mut state = self.state();
            if state.closed {
                return Err(InjectError::new("the call is over"));
            }
            if let Some(asking) = asking
                && !state.asked.contains(&(asking, provider))
            {
                state.asked.push((asking, provider));
            }
            if let Some(chain) = asking.and_then(|asking| cycle(&state.asked, provider, asking)) {
                return Err(InjectError::new(self.describe_cycle(&chain)));
            }
            match state.slots.iter().find(|(index, _)| *index == provider) {
                Some((_, slot)) => slot.clone(),
                None => {
                    let slot = Arc::new(ValueSlot::default());
                    state.slots.push((provider, slot.clone()));
                    slot
                }
            }
        };
        slot.made.get_or_init(|| self.make(provider, &slot)).await.clone()?;
        Ok(InjectedValue::Slot(slot.clone()))
    }

    /// Runs a provider. A value that comes when the call is over is finished at once.
    async fn make(self: &Arc<Self>, index: usize, slot: &Arc<ValueSlot>) -> Result<(), InjectError> {
        let provider = &self.dependencies.providers[index];
        let scope = Scope { inner: self.clone(), asking: Some(index) };
        let made = match crate::panics::catch(|| (provider.make)(scope)) {
            Ok(making) => CatchPanic(making).await,
            Err(panic) => Err(panic),
        };
        let held = made
            .unwrap_or_else(|panic| Err(format!("it panicked: {panic}")))
            .map_err(|error| InjectError::new(format!("the provider {:?} failed: {error}", provider.name)))?;
        let late = {
            let mut state = self.state();
            if state.closed {
                Some(held)
            } else {
                slot.put(held);
                state.made.push((index, slot.clone()));
                None
            }
        };
        let Some(held) = late else { return Ok(()) };
        if let Err(error) = finish_one(provider.finish.as_ref(), held, CallOutcome::Cancelled).await {
            let (provider, (tool, call_id)) = (&*provider.name, self.facts.of_log());
            tracing::warn!(provider, tool, call_id, error, "a value that came too late could not be finished");
        }
        Err(InjectError::new("the call is over"))
    }

    fn describe_cycle(&self, chain: &[usize]) -> String {
        let names: Vec<&str> = chain.iter().map(|&index| self.dependencies.providers[index].name.as_str()).collect();
        format!("the providers need each other in a circle: {}", names.join(" -> "))
    }

    /// Returns the time by which the call has to be over.
    pub(crate) fn deadline(&self) -> Deadline {
        self.facts.deadline
    }

    /// What the handler says besides its output.
    pub(crate) fn notes(&self) -> Option<Notes> {
        self.facts.notes()
    }

    /// Remembers a blocking handler: what it was lent is finished only after it.
    pub(crate) fn hold_for(&self, blocking: BlockingHandler) {
        self.state().blocking = Some(blocking);
    }

    /// Stops the handler: tells it if it listens, and keeps a blocking one from starting.
    pub(crate) fn revoke(&self) -> StopOutcome {
        self.facts.cancel();
        self.state().blocking.as_ref().map_or(StopOutcome::Stopped, BlockingHandler::revoke)
    }

    /// Closes a scope in which nothing was made and nothing goes on, as that of most tools made at run time: then there is
    /// nothing to finish, and no task needed for it.
    pub(crate) fn close_if_empty(&self) -> bool {
        {
            let mut state = self.state();
            if state.blocking.is_some() || !state.slots.is_empty() || !state.made.is_empty() {
                return false;
            }
            state.closed = true;
        }
        self.facts.permit.release();
        true
    }

    /// Finishes every value, the newest first. All are finished, even if one fails; the first error is given back, and
    /// to the values that are older the call has failed then.
    ///
    /// The call leaves its place before that: a hook may call a tool, which would wait for this very place.
    pub(crate) async fn finish(self: Arc<Self>, mut outcome: CallOutcome) -> Result<(), String> {
        let blocking = self.state().blocking.take();
        if let Some(blocking) = blocking {
            blocking.ended().await;
        }
        let made = {
            let mut state = self.state();
            state.closed = true;
            state.slots.clear();
            std::mem::take(&mut state.made)
        };
        self.facts.permit.release();
        let mut result = Ok(());
        for (index, slot) in made.into_iter().rev() {
            let provider = &self.dependencies.providers[index];
            if let Err(error) = finish_one(provider.finish.as_ref(), slot.take(), outcome).await {
                let (tool, call_id) = self.facts.of_log();
                tracing::warn!(provider = &*provider.name, tool, call_id, error, "a value could not be finished");
                result = result.and(Err(format!("{:?} could not be finished: {error}", provider.name)));
                if outcome.is_success() {
                    outcome = CallOutcome::Failed;
                }
            }
        }
        result
    }
}

async fn finish_one(hook: Option<&super::FinishHook>, held: HeldValue, outcome: CallOutcome) -> super::FinishResult {
    let panicked = |panic: String| Err(format!("it panicked: {panic}"));
    let Some(hook) = hook else { return crate::panics::catch(|| drop(held)).or_else(panicked) };
    if matches!(held, HeldValue::Empty) {
        // The handler has taken it.
        return Ok(());
    }
    match crate::panics::catch(|| (hook.finish)(held, outcome)) {
        Ok(Some(future)) => CatchPanic(future).await.unwrap_or_else(panicked),
        Ok(None) => Err("somebody still holds it".to_owned()),
        Err(panic) => panicked(panic),
    }
}

/// The chain from `from` through what was asked to `to` and back to `from`, if there is one.
fn cycle(asked: &[(usize, usize)], from: usize, to: usize) -> Option<Vec<usize>> {
    fn search(asked: &[(usize, usize)], at: usize, to: usize, seen: &mut Vec<usize>, chain: &mut Vec<usize>) -> bool {
        if seen.contains(&at) {
            return false;
        }
        seen.push(at);
        chain.push(at);
        let mut next = asked.iter().filter(|(asker, _)| *asker == at).map(|&(_, next)| next);
        if at == to || next.any(|next| search(asked, next, to, seen, chain)) {
            return true;
        }
        chain.pop();
        false
    }
    let mut chain = Vec::new();
    search(asked, from, to, &mut Vec::new(), &mut chain).then(|| {
        // CallObserver from the asking provider on: to -> from -> ... -> to.
        chain.insert(0, to);
        chain
    })
}
