//! From something that is said to an answer.

mod admission;
mod ask;
mod budget;
mod calls;
mod decide;
mod live;
mod open;
mod running;
mod stop;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tool_runtime::confirm::{Confirm, Decision};
use tool_runtime::{Call, CancellationToken};

use self::budget::Budget;
use self::live::Live;
use self::running::Parent;
pub(crate) use self::running::Running;
use self::stop::Stop;
use crate::conversation::Shared;
use crate::event::{Hub, Told};
use crate::{Conversation, Ending, Event, Limits, Outcome, Subscriber};

/// Something that was said, on its way to an answer; see [`Conversation::say`]. Await it, in a Tokio runtime with time.
///
/// It is cancelled by dropping its future, or with [`cancel`](Self::cancel), which lets it say what came of it. Either
/// way calls are stopped, and the history is one that a provider takes: what the model has said so far, and one result
/// for each of its calls.
///
/// ```
/// use tool_agent::{Agent, Event, Reply, Scripted, Update};
/// use tool_runtime::Dispatcher;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder(Scripted::new([Reply::text("Hello!")]), Dispatcher::builder().build()?).build();
/// let run = agent.conversation("chat-7").say("Hi.");
/// let mut events = run.events();
/// let outcome = tokio::spawn(run.into_future());
/// while let Some(update) = events.next().await {
///     if let Update::Event { event: Event::Text { text }, .. } = update {
///         print!("{text}");
///     }
/// }
/// assert_eq!(outcome.await?.answer(), Some("Hello!"));
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is said unless it is awaited"]
pub struct Run {
    conversation: Conversation,
    begin: Begin,
    settings: Settings,
    limits: Option<Limits>,
    /// What it spends, if it is not its own.
    budget: Option<Arc<Budget>>,
    cancel: Option<CancellationToken>,
    end: End,
}

/// How a run begins.
pub(crate) enum Begin {
    Say(String),
    Resume,
    Decide { token: String, decision: Decision },
}

impl Begin {
    /// What a person says.
    fn text(&self) -> Option<String> {
        match self {
            Self::Say(text) => Some(text.clone()),
            Self::Resume | Self::Decide { .. } => None,
        }
    }
}

type Prepare = Arc<dyn for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync>;

/// What the calls of a run are given.
#[derive(Clone, Default)]
struct Settings {
    confirm: Option<Arc<dyn Confirm>>,
    prepare: Option<Prepare>,
    channel: Option<(String, String)>,
    /// The conversation for whose limits calls count, if that is not this one.
    counts_for: Option<String>,
}

/// Those who watch a run.
#[derive(Clone)]
struct Watchers {
    shared: Arc<Shared>,
    run: u64,
}

impl Watchers {
    fn tell(&self, event: impl FnOnce() -> Event) {
        self.tell_asleep(event).wake();
    }

    /// As [`tell`](Self::tell), for somebody who holds a lock.
    fn tell_asleep(&self, event: impl FnOnce() -> Event) -> Told {
        self.shared.hub.tell(self.run, event)
    }
}

/// The end of a run for those who watch it, however it comes.
struct End {
    watchers: Watchers,
}

impl Drop for End {
    fn drop(&mut self) {
        self.watchers.shared.hub.close(self.watchers.run);
    }
}

impl Run {
    pub(crate) fn new(conversation: Conversation, begin: Begin) -> Self {
        static RUNS: AtomicU64 = AtomicU64::new(1);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let end = End { watchers: Watchers { shared: conversation.shared.clone(), run } };
        Self { conversation, begin, settings: Settings::default(), limits: None, budget: None, cancel: None, end }
    }

    /// A number that no other run of this process has. [`Update`](crate::Update) has it beside each event, so that an
    /// interface knows its own runs from those of others.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.end.watchers.run
    }

    /// Watches what happens, to the end of this run.
    #[must_use]
    pub fn events(&self) -> Subscriber {
        Hub::subscribe(self.conversation.shared.clone(), Some(self.end.watchers.run))
    }

    /// Stops when the token is cancelled, with [`Ending::Cancelled`].
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// How far this run may go, whatever the agent's limits are.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Asks this one about calls that need consent, instead of whom the agent and the dispatcher ask.
    pub fn confirm(mut self, confirm: impl Confirm) -> Self {
        self.settings.confirm = Some(Arc::new(confirm));
        self
    }

    /// Tells each call more, such as [`Call::with`] the user on whose behalf it is made.
    pub fn each(mut self, prepare: impl for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync + 'static) -> Self {
        self.settings.prepare = Some(Arc::new(prepare));
        self
    }

    /// The channel through which the conversation is held, and the chat in it, for tools that ask for their
    /// [`Context`](tool_runtime::Context).
    pub fn channel(mut self, channel: impl Into<String>, chat: impl Into<String>) -> Self {
        self.settings.channel = Some((channel.into(), chat.into()));
        self
    }

    /// Has what it is told, and what it spends, from the run that it was spawned in.
    #[cfg(feature = "spawn")]
    pub(crate) fn below(mut self, parent: &Parent) -> Self {
        *self.conversation.shared.new_mode() = Some(parent.mode());
        self.settings = parent.settings.clone();
        self.budget = Some(parent.budget.clone());
        self
    }

    /// Has its calls count for the limits of another conversation.
    #[cfg(feature = "spawn")]
    pub(crate) fn counts_for(mut self, conversation: Option<String>) -> Self {
        self.settings.counts_for = conversation;
        self
    }

    async fn go(self) -> Outcome {
        let Self { conversation, begin, mut settings, limits, budget, cancel, end } = self;
        let agent = conversation.agent.inner.clone();
        let given = settings.clone();
        settings.confirm = settings.confirm.or_else(|| agent.confirm.clone());
        let limits = limits.unwrap_or_else(|| agent.limits.clone());
        let mut stop = Stop::new(cancel, limits.time);
        // It may have to wait for another run of this conversation.
        let waiting = Unbegun { end: Some(end) };
        let state = match stop.unless(conversation.state()).await {
            Ok(Ok(state)) => state,
            Ok(Err(error)) => return waiting.ends(Ending::NotKept(error)),
            Err(why) => return waiting.ends(why.into()),
        };
        let Some(end) = waiting.begins() else { return Outcome::of(Ending::Cancelled) };
        let budget = budget.unwrap_or_else(|| Arc::new(Budget::new(limits)));
        let parent = Parent::new(given, budget, state.mode);
        let mut live = Live::new(conversation, state, end, stop, settings, parent);
        let ending = match live.begin(begin).await {
            Ok(()) => live.converse().await,
            Err(ending) => ending,
        };
        live.end(ending).await
    }
}

impl IntoFuture for Run {
    type Output = Outcome;
    type IntoFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.go())
    }
}

/// A run that waits for its turn. Dropped, it has ended.
struct Unbegun {
    end: Option<End>,
}

impl Unbegun {
    fn begins(mut self) -> Option<End> {
        self.end.take()
    }

    fn ends(mut self, ending: Ending) -> Outcome {
        let outcome = Outcome::of(ending);
        self.tell(&outcome);
        outcome
    }

    fn tell(&mut self, outcome: &Outcome) {
        if let Some(end) = self.end.take() {
            // In the conversation another run may go on, which has not ended.
            let Watchers { shared, run } = &end.watchers;
            shared.hub.tell_alone(*run, || Event::Ended(Arc::new(outcome.clone()))).wake();
        }
    }
}

impl Drop for Unbegun {
    fn drop(&mut self) {
        self.tell(&Outcome::of(Ending::Cancelled));
    }
}
