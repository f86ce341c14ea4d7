//! Runs: from a message of the user to the model's answer.

mod ask;
mod budget;
mod calls;
mod decide;
mod live_run;
mod open_calls;
mod parent;
mod stop;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tool_runtime::confirm::{Confirm, Decision};
use tool_runtime::{Call, CancellationToken};

use self::budget::RunBudget;
use self::live_run::LiveRun;
use self::parent::ParentRun;
pub(crate) use self::parent::RunRegistry;
use self::stop::StopSignal;
use crate::conversation::ConversationShared;
use crate::event::{EventHub, EventWakers};
use crate::{AgentEvent, AgentSubscriber, Conversation, RunEnding, RunLimits, RunOutcome};

/// A run: one message of the user until the model stops; see [`Conversation::say`]. Await it in a Tokio runtime with
/// time enabled.
///
/// Cancel a run by dropping its future, or with [`cancel`](Self::cancel), which still returns an outcome. Either way
/// its calls are cancelled and the history is valid for a provider: it has the partial response and one result for each
/// call.
///
/// ```
/// use tool_agent::{Agent, AgentEvent, AgentUpdate, Reply, ScriptedModel};
/// use tool_runtime::Dispatcher;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder(ScriptedModel::new([Reply::text("Hello!")]), Dispatcher::builder().allow_empty().build()?).build();
/// let run = agent.conversation("chat-7").say("Hi.");
/// let mut events = run.events();
/// let outcome = tokio::spawn(run.into_future());
/// while let Some(update) = events.next().await {
///     if let AgentUpdate::Event { event: AgentEvent::Text { text }, .. } = update {
///         print!("{text}");
///     }
/// }
/// assert_eq!(outcome.await?.answer(), Some("Hello!"));
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing unless awaited"]
pub struct Run {
    conversation: Conversation,
    start: RunStart,
    settings: CallSettings,
    limits: Option<RunLimits>,
    /// The budget of the parent run, for a sub-agent.
    budget: Option<Arc<RunBudget>>,
    cancel: Option<CancellationToken>,
    guard: EventsGuard,
}

/// The start of a run.
pub(crate) enum RunStart {
    Say(String),
    Resume,
    Decide { token: String, decision: Decision },
}

impl RunStart {
    /// Returns the user's message.
    fn text(&self) -> Option<String> {
        match self {
            Self::Say(text) => Some(text.clone()),
            Self::Resume | Self::Decide { .. } => None,
        }
    }
}

type Prepare = Arc<dyn for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync>;

/// The settings of the calls of a run.
#[derive(Clone, Default)]
struct CallSettings {
    confirm: Option<Arc<dyn Confirm>>,
    prepare: Option<Prepare>,
    channel: Option<(String, String)>,
    /// The conversation whose limits the calls count towards, if it is another one.
    counts_for: Option<String>,
}

/// The events of one run.
#[derive(Clone)]
struct RunEvents {
    shared: Arc<ConversationShared>,
    run: u64,
}

impl RunEvents {
    fn send(&self, event: impl FnOnce() -> AgentEvent) {
        self.queue(event).wake();
    }

    /// Queues an event without waking subscribers, for a caller that holds a lock.
    fn queue(&self, event: impl FnOnce() -> AgentEvent) -> EventWakers {
        self.shared.hub.send(self.run, event)
    }
}

/// Ends the subscriptions of a run when dropped.
struct EventsGuard {
    events: RunEvents,
}

impl Drop for EventsGuard {
    fn drop(&mut self) {
        self.events.shared.hub.close(self.events.run);
    }
}

impl Run {
    pub(crate) fn new(conversation: Conversation, start: RunStart) -> Self {
        static RUNS: AtomicU64 = AtomicU64::new(1);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let guard = EventsGuard { events: RunEvents { shared: conversation.shared.clone(), run } };
        Self { conversation, start, settings: CallSettings::default(), limits: None, budget: None, cancel: None, guard }
    }

    /// Returns an id that is unique in this process. [`AgentUpdate`](crate::AgentUpdate) contains it, so that an
    /// interface can tell its own runs from others.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.guard.events.run
    }

    /// Subscribes to the events of this run.
    #[must_use]
    pub fn events(&self) -> AgentSubscriber {
        EventHub::subscribe(self.conversation.shared.clone(), Some(self.guard.events.run))
    }

    /// Stops the run with [`RunEnding::Cancelled`] when the token is cancelled.
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Sets the limits of this run instead of the agent's.
    pub fn limits(mut self, limits: RunLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets the confirmer for this run instead of the agent's and the dispatcher's.
    pub fn confirm(mut self, confirm: impl Confirm) -> Self {
        self.settings.confirm = Some(Arc::new(confirm));
        self
    }

    /// Configures each call, for example with the user on whose behalf it is made; see [`Call::with`].
    pub fn each(mut self, prepare: impl for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync + 'static) -> Self {
        self.settings.prepare = Some(Arc::new(prepare));
        self
    }

    /// Sets the channel of the conversation and the chat in it, for tools that inject
    /// [`Context`](tool_runtime::Context).
    pub fn channel(mut self, channel: impl Into<String>, chat: impl Into<String>) -> Self {
        self.settings.channel = Some((channel.into(), chat.into()));
        self
    }

    /// Inherits settings, budget and mode from the run that spawned this one.
    #[cfg(feature = "spawn")]
    pub(crate) fn with_parent(mut self, parent: &ParentRun) -> Self {
        *self.conversation.shared.new_mode() = Some(parent.mode());
        self.settings = parent.settings.clone();
        self.budget = Some(parent.budget.clone());
        self
    }

    /// Counts the calls towards the limits of another conversation.
    #[cfg(feature = "spawn")]
    pub(crate) fn counts_for(mut self, conversation: Option<String>) -> Self {
        self.settings.counts_for = conversation;
        self
    }

    async fn execute(self) -> RunOutcome {
        let Self { conversation, start, mut settings, limits, budget, cancel, guard } = self;
        let agent = conversation.agent.inner.clone();
        let given = settings.clone();
        settings.confirm = settings.confirm.or_else(|| agent.confirm.clone());
        let limits = limits.unwrap_or_else(|| agent.limits.clone());
        let mut stop = StopSignal::new(cancel, limits.time);
        // Another run of this conversation may be active.
        let queued = QueuedRun { guard: Some(guard) };
        let state = match stop.run_unless_stopped(conversation.state()).await {
            Ok(Ok(state)) => state,
            Ok(Err(error)) => return queued.end(RunEnding::NotKept(error)),
            Err(why) => return queued.end(why.into()),
        };
        let Some(guard) = queued.start() else { return RunOutcome::new(RunEnding::Cancelled) };
        let budget = budget.unwrap_or_else(|| Arc::new(RunBudget::new(limits)));
        let parent = ParentRun::new(given, budget, state.mode);
        let mut live = LiveRun::new(conversation, state, guard, stop, settings, parent);
        let ending = match live.start(start).await {
            Ok(()) => live.run_turns().await,
            Err(ending) => ending,
        };
        live.end(ending).await
    }
}

impl IntoFuture for Run {
    type Output = RunOutcome;
    type IntoFuture = Pin<Box<dyn Future<Output = RunOutcome> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.execute())
    }
}

/// A run that waits for its turn. Reports its end when dropped.
struct QueuedRun {
    guard: Option<EventsGuard>,
}

impl QueuedRun {
    fn start(mut self) -> Option<EventsGuard> {
        self.guard.take()
    }

    fn end(mut self, ending: RunEnding) -> RunOutcome {
        let outcome = RunOutcome::new(ending);
        self.report(&outcome);
        outcome
    }

    fn report(&mut self, outcome: &RunOutcome) {
        if let Some(guard) = self.guard.take() {
            // Only to subscribers of this run: another run of the conversation may be active.
            let RunEvents { shared, run } = &guard.events;
            shared.hub.send_to_run(*run, || AgentEvent::Ended(Arc::new(outcome.clone()))).wake();
        }
    }
}

impl Drop for QueuedRun {
    fn drop(&mut self) {
        self.report(&RunOutcome::new(RunEnding::Cancelled));
    }
}
