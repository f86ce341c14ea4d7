//! The scope of a call: its injected values. Each provider runs at most once, when its value is first needed.

use std::any::{TypeId, type_name};
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{BlockingHandler, CallFacts, FinishResult, HeldValue, InjectedValue, StopOutcome, ValueSlot};
use crate::dispatch::{CallValue, Dependencies, ValueSource};
use crate::handler_failure::{BoxError, ErrorChain, TARGET, explicit_message};
use crate::inject::{Deadline, Notes};
use crate::panics::CatchPanic;
use crate::{CallOutcome, CancellationToken, Context, ErrorKind, Progress};

/// A handle to the injected values of one call, for providers and for the handlers of [runtime
/// tools](crate::RuntimeTool).
#[derive(Clone)]
pub struct Scope {
    inner: Arc<ScopeInner>,
    /// The provider that this scope was given to.
    asking: Option<usize>,
}

impl Scope {
    /// Creates the scope of a handler.
    pub(crate) fn new(inner: Arc<ScopeInner>) -> Self {
        Self { inner, asking: None }
    }

    /// Returns the origin of the call.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.inner.facts.context
    }

    /// Returns the deadline of the call. It is fixed when the call starts, before its providers run.
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

    /// Returns the progress reporter of the call.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let progress = self.inner.dependencies.ready_input(ValueSource::Progress, &self.inner.values);
        progress.and_then(|progress| progress.cloned()).unwrap_or_default()
    }

    /// Returns a value passed to [`Call::with`](crate::Call::with), even if its type is not declared with
    /// [`Builder::per_call`](crate::Builder::per_call). Use it for optional values.
    #[must_use]
    pub fn given<T: Clone + Send + 'static>(&self) -> Option<T> {
        let value = self.inner.values.iter().find(|value| value.type_id == TypeId::of::<T>())?;
        InjectedValue::Slot(value.slot.clone()).cloned().ok()
    }

    /// Returns the value with this name, and makes it if it does not exist yet.
    ///
    /// # Errors
    /// If the name is unknown, the value has another type, its provider fails, or the providers form a cycle.
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

    /// Returns the value of this type: one passed with the call, or the only one provided.
    ///
    /// # Errors
    /// As [`get`](Self::get), and if several values have this type.
    pub async fn value<T: Clone + Send + 'static>(&self) -> Result<T, InjectError> {
        let source = self
            .inner
            .dependencies
            .by_type(TypeId::of::<T>(), None, type_name::<T>())
            .map_err(|error| InjectError::new(error.to_string()))?;
        self.inner.clone().input(source, self.asking).await?.cloned()
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// The error of an injection.
#[derive(Clone, Debug)]
pub struct InjectError {
    message: String,
    /// The error of the provider or constructor, if there is one.
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl InjectError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None }
    }

    /// Creates the error of a provider or constructor that failed.
    pub(crate) fn caused(message: impl Into<String>, cause: BoxError) -> Self {
        Self { message: message.into(), cause: Some(cause.into()) }
    }

    /// Returns the message for the model: that of a [`HandlerError`](crate::HandlerError), or of an injection that failed
    /// by itself. The text of any other error is not meant for the model.
    pub(crate) fn message_for_model(&self, tool: &str) -> (ErrorKind, String) {
        if let Some((kind, message)) = explicit_message(self) {
            return (kind, message.to_owned());
        }
        let root = std::iter::successors(Some(self as &(dyn Error + 'static)), |&cause| cause.source()).last();
        let message = match root.and_then(|root| root.downcast_ref::<Self>()) {
            Some(own) => format!("`{tool}` did not run: {own}."),
            None => unavailable(tool),
        };
        (ErrorKind::Injection, message)
    }
}

/// Returns the message for a model that cannot do anything about an error.
pub(crate) fn unavailable(tool: &str) -> String {
    format!("`{tool}` did not run: it is unavailable right now. Try again later.")
}

impl fmt::Display for InjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for InjectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&**self.cause.as_ref()?)
    }
}

/// The injected values of one call.
pub(crate) struct ScopeInner {
    dependencies: Arc<Dependencies>,
    /// The values passed to `Call::with`.
    values: Vec<CallValue>,
    facts: CallFacts,
    state: Mutex<ScopeState>,
}

#[derive(Default)]
struct ScopeState {
    /// The values that exist or are being made.
    slots: Vec<(usize, Arc<ValueSlot>)>,
    /// The values that exist, in the order in which they were made: dependencies before dependants.
    made: Vec<(usize, Arc<ValueSlot>)>,
    /// Pairs of a provider and a value that it has asked for.
    asked: Vec<(usize, usize)>,
    /// The blocking handler, which cannot be stopped once it runs.
    blocking: Option<BlockingHandler>,
    /// Set once the call is over. No more values are made.
    closed: bool,
}

impl ScopeInner {
    /// Releases the permit of the call.
    pub(crate) fn release_permit(&self) {
        self.facts.permit.release();
    }

    pub(crate) fn new(dependencies: Arc<Dependencies>, values: Vec<CallValue>, facts: CallFacts) -> Arc<Self> {
        Arc::new(Self { dependencies, values, facts, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, ScopeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value of a source, and makes it if necessary. `asking` is the provider that requests it, if any.
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
                    // A handler that calls other tools waits for them, and they may need its permit.
                    self.facts.permit.release();
                }
                return self.dependencies.ready_input(other, &self.values);
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
                    let slot = ValueSlot::of_provider(self.dependencies.providers[provider].lent.clone());
                    state.slots.push((provider, slot.clone()));
                    slot
                }
            }
        };
        slot.made.get_or_init(|| self.make(provider, &slot)).await.clone()?;
        Ok(InjectedValue::Slot(slot.clone()))
    }

    /// Runs a provider. A value that is made after the call is over is finished at once.
    async fn make(self: &Arc<Self>, index: usize, slot: &Arc<ValueSlot>) -> Result<(), InjectError> {
        let provider = &self.dependencies.providers[index];
        let scope = Scope { inner: self.clone(), asking: Some(index) };
        let made = match crate::panics::catch(|| (provider.make)(scope)) {
            Ok(making) => CatchPanic(making).await,
            Err(panic) => Err(panic),
        };
        let held = made
            .unwrap_or_else(|panic| Err(format!("it panicked: {panic}").into()))
            .map_err(|error| InjectError::caused(format!("the provider {:?} failed", provider.name), error))?;
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
            let (provider, (tool, call_id)) = (&*provider.name, self.facts.log_fields());
            let error = ErrorChain(&*error);
            tracing::error!(
                target: TARGET,
                provider,
                tool,
                call_id,
                %error,
                "a value made after the end of its call could not be finished"
            );
        }
        Err(InjectError::new("the call is over"))
    }

    fn describe_cycle(&self, chain: &[usize]) -> String {
        let names: Vec<&str> = chain.iter().map(|&index| self.dependencies.providers[index].name.as_str()).collect();
        format!("the providers form a cycle: {}", names.join(" -> "))
    }

    pub(crate) fn deadline(&self) -> Deadline {
        self.facts.deadline
    }

    pub(crate) fn notes(&self) -> Option<Notes> {
        self.facts.notes()
    }

    /// Stores the blocking handler: values that it borrows are finished only after it has ended.
    pub(crate) fn hold_for(&self, blocking: BlockingHandler) {
        self.state().blocking = Some(blocking);
    }

    /// Stops the handler: cancels its token, and prevents a blocking handler from starting.
    pub(crate) fn revoke(&self) -> StopOutcome {
        self.facts.cancel();
        self.state().blocking.as_ref().map_or(StopOutcome::Stopped, BlockingHandler::revoke)
    }

    /// Closes a scope in which nothing was made and nothing runs, as that of most runtime tools. Such a scope has nothing
    /// to finish and needs no task for it.
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

    /// Finishes all values, newest first, even if one fails. Returns the first error; the older values then see a failed
    /// call.
    ///
    /// The permit is released before, because a hook may call a tool, which would wait for this very permit.
    pub(crate) async fn finish(self: Arc<Self>, mut outcome: CallOutcome) -> FinishResult {
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
                let (tool, call_id) = self.facts.log_fields();
                let chain = ErrorChain(&*error);
                tracing::error!(target: TARGET, provider = &*provider.name, tool, call_id, error = %chain, "a value could not be finished");
                result = result.and(Err(error));
                if outcome.is_success() {
                    outcome = CallOutcome::Failed;
                }
            }
        }
        result
    }
}

async fn finish_one(hook: Option<&super::FinishHook>, held: HeldValue, outcome: CallOutcome) -> FinishResult {
    let panicked = |panic: String| Err(format!("it panicked: {panic}").into());
    let Some(hook) = hook else { return crate::panics::catch(|| drop(held)).or_else(panicked) };
    if matches!(held, HeldValue::Empty) {
        // The handler has moved it out.
        return Ok(());
    }
    match crate::panics::catch(|| (hook.finish)(held, outcome)) {
        Ok(Some(future)) => CatchPanic(future).await.unwrap_or_else(panicked),
        Ok(None) => Err("it is still in use".into()),
        Err(panic) => panicked(panic),
    }
}

/// Returns the chain of requests from `from` to `to` and back to `from`, if there is one.
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
        // Starts with the requesting provider: to -> from -> ... -> to.
        chain.insert(0, to);
        chain
    })
}
