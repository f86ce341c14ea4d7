//! A model with its tools.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tool_runtime::Dispatcher;
use tool_runtime::confirm::{Confirm, Deferred};
use tool_runtime::search::Shortlist;

use crate::conversation::{Cache, Shared};
use crate::identity::Identities;
use crate::mode::{Modes, Prompts};
use crate::run::Running;
use crate::{Conversation, Limits, Mode, Model, Options, Store};

/// A model with its tools, and the conversations that are held with it. Cheap to clone; clones share everything.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_agent::{Agent, Reply, Scripted};
/// use tool_runtime::{Dispatcher, tool};
///
/// /// Add two numbers.
/// #[tool(name = "math.add")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().build()?;
/// let model = Scripted::new([Reply::call("math.add", json!({"a": 1, "b": 2})), Reply::text("It is 3.")]);
/// let agent = Agent::builder(model, tools).system("You are good with numbers.").build();
///
/// let outcome = agent.conversation("chat-7").say("How much is 1 + 2?").await;
/// assert_eq!(outcome.answer(), Some("It is 3."));
/// assert_eq!(outcome.calls, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(crate) inner: Arc<Inner>,
}

/// What clones of an agent share.
pub(crate) struct Inner {
    pub(crate) model: Box<dyn Model>,
    pub(crate) tools: Dispatcher,
    pub(crate) modes: Modes,
    pub(crate) mode: Mode,
    pub(crate) limits: Limits,
    pub(crate) options: Options,
    pub(crate) at_a_time: Option<NonZeroUsize>,
    pub(crate) store: Option<Box<dyn Store>>,
    pub(crate) shortlist: Option<Shortlist>,
    pub(crate) deferred: Option<Deferred>,
    pub(crate) confirm: Option<Arc<dyn Confirm>>,
    /// Whether whoever is asked is not the one who answers later.
    #[cfg_attr(not(feature = "spawn"), expect(dead_code, reason = "sub-agents want to know"))]
    pub(crate) is_asked_at_once: bool,
    pub(crate) identities: Identities,
    /// The runs that go on.
    pub(crate) running: Running,
    conversations: Cache,
}

impl Agent {
    /// Starts an agent.
    pub fn builder(model: impl Model, tools: Dispatcher) -> AgentBuilder {
        AgentBuilder {
            model: Box::new(model),
            tools,
            system: String::new(),
            prompts: Prompts::default(),
            mode: Mode::default(),
            limits: Limits::default(),
            options: Options::default(),
            at_a_time: None,
            store: None,
            shortlist: None,
            deferred: None,
            confirm: None,
            remembered: 1_000,
        }
    }

    /// The conversation of this id: one that was held before, or a new one. All who ask for the same id get the same.
    #[must_use]
    pub fn conversation(&self, id: impl AsRef<str>) -> Conversation {
        Conversation { agent: self.clone(), shared: self.inner.conversations.get(id.as_ref()) }
    }

    /// A conversation that is new whatever its id, is not kept, and of which nobody else knows.
    #[must_use]
    pub fn passing_conversation(&self, id: impl AsRef<str>) -> Conversation {
        Conversation { agent: self.clone(), shared: Arc::new(Shared::passing(id.as_ref())) }
    }

    /// The tools that it has in [`Mode::Build`].
    #[must_use]
    pub fn tools(&self) -> &Dispatcher {
        &self.inner.tools
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { model, tools, mode, limits, .. } = &*self.inner;
        let mut shown = f.debug_struct("Agent");
        shown.field("model", &model.name()).field("tools", tools).field("mode", mode).field("limits", limits);
        shown.finish_non_exhaustive()
    }
}

/// Collects what an agent has; see [`Agent::builder`].
#[must_use = "a builder does nothing until `build()`"]
pub struct AgentBuilder {
    model: Box<dyn Model>,
    tools: Dispatcher,
    system: String,
    prompts: Prompts,
    mode: Mode,
    limits: Limits,
    options: Options,
    at_a_time: Option<NonZeroUsize>,
    store: Option<Box<dyn Store>>,
    shortlist: Option<Shortlist>,
    deferred: Option<Deferred>,
    confirm: Option<Arc<dyn Confirm>>,
    remembered: usize,
}

impl AgentBuilder {
    /// What the model is told beforehand, in every mode.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// What the model is told in a mode, after what it is told in every mode. Each mode has words of its own unless set;
    /// with an empty text it has none.
    pub fn prompt(mut self, mode: Mode, prompt: impl Into<String>) -> Self {
        self.prompts[mode as usize] = Some(prompt.into());
        self
    }

    /// The mode of new conversations. [`Mode::Build`] unless set.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// How far a run may go.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How the model is to answer.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// How many calls of one turn run at a time. 16 unless set.
    pub fn concurrency(mut self, at_a_time: NonZeroUsize) -> Self {
        self.at_a_time = Some(at_a_time);
        self
    }

    /// Sends the model only those tools that fit the conversation, where there are too many to send all: what this list
    /// has already, what the model has called, what fits the person's words, and what the model has found with
    /// `search_tools`, which the tools need for that. What is not sent has to be found first: most providers know tools
    /// by names that are made for what is sent.
    ///
    /// ```standalone_crate
    /// use tool_agent::{Agent, Reply, Scripted};
    /// use tool_runtime::search::{Shortlist, ToolSearch};
    /// use tool_runtime::{Dispatcher, tool};
    ///
    /// /// The time.
    /// #[tool(name = "clock.now")]
    /// fn now() -> u64 {
    ///     0
    /// }
    ///
    /// /// Close an issue.
    /// #[tool(name = "issue.close")]
    /// fn close(id: u64) {}
    ///
    /// /// Send a mail.
    /// #[tool(name = "mail.send")]
    /// fn send(to: &str) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().service(ToolSearch).build()?;
    /// let shortlist = Shortlist::new(&tools, ["clock.now"])?.budget(10_000);
    /// let model = Scripted::from_fn(|request| {
    ///     let sent = request.tools.unwrap().definitions();
    ///     Reply::text(sent.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>().join(", "))
    /// });
    /// let agent = Agent::builder(model, tools).shortlist(shortlist).build();
    ///
    /// let outcome = agent.conversation("chat-7").say("Please close issue 12.").await;
    /// assert_eq!(outcome.answer(), Some("clock.now, issue.close, search_tools"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn shortlist(mut self, shortlist: Shortlist) -> Self {
        self.shortlist = Some(shortlist);
        self
    }

    /// Where conversations are kept, such as a [`SqliteStore`](crate::SqliteStore). Without one they are forgotten when
    /// the agent goes.
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Some(Box::new(store));
        self
    }

    /// Who is asked while a run waits, instead of whom the dispatcher asks: a terminal, the page that is open.
    pub fn confirm(mut self, confirm: impl Confirm) -> Self {
        self.confirm = Some(Arc::new(confirm));
        self
    }

    /// Has calls wait for somebody who answers later: the run ends, and
    /// [`Conversation::decide`](crate::Conversation::decide) takes it up again, also after a restart if the store of
    /// this is on disk. It is asked unless there is somebody to [`confirm`](Self::confirm) at once.
    pub fn deferred(mut self, deferred: Deferred) -> Self {
        self.deferred = Some(deferred);
        self
    }

    /// How many conversations are held in memory that nobody uses at the moment. Those that were not used for the
    /// longest time are let go: with a store they are read again when somebody asks for them, without one they are
    /// forgotten. 1,000 unless set.
    pub fn remembered(mut self, conversations: usize) -> Self {
        self.remembered = conversations;
        self
    }

    /// The agent.
    #[must_use]
    pub fn build(self) -> Agent {
        let Self { model, tools, mode, limits, options, at_a_time, store, shortlist, deferred, confirm, .. } = self;
        let is_asked_at_once = confirm.is_some();
        let confirm = confirm.or_else(|| deferred.clone().map(|deferred| Arc::new(deferred) as _));
        let modes = Modes::new(&tools, &self.system, &self.prompts);
        let inner = Inner {
            model,
            tools,
            modes,
            mode,
            limits,
            options,
            at_a_time,
            store,
            shortlist,
            deferred,
            confirm,
            is_asked_at_once,
            identities: Identities::default(),
            running: Running::default(),
            conversations: Cache::new(self.remembered),
        };
        Agent { inner: Arc::new(inner) }
    }
}
