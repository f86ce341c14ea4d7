//! Agents and their builder.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tool_runtime::Dispatcher;
use tool_runtime::confirm::{Confirm, Deferred};
use tool_runtime::search::Shortlist;

use crate::call_ids::CallIds;
use crate::conversation::{ConversationCache, ConversationShared};
use crate::mode::{ModeTable, Prompts};
use crate::run::RunRegistry;
use crate::{Conversation, ConversationStore, Mode, Model, ModelOptions, RunLimits};

/// A model with its tools and conversations. Cheap to clone; clones share everything.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_agent::{Agent, Reply, ScriptedModel};
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
/// let model = ScriptedModel::new([Reply::call("math.add", json!({"a": 1, "b": 2})), Reply::text("It is 3.")]);
/// let agent = Agent::builder(model, tools).system("You are good with numbers.").build();
///
/// let outcome = agent.conversation("chat-7").say("How much is 1 + 2?").await;
/// assert_eq!(outcome.answer(), Some("It is 3."));
/// assert_eq!((outcome.calls, outcome.failed_calls), (1, vec![]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(crate) inner: Arc<AgentInner>,
}

/// The state that clones of an agent share.
pub(crate) struct AgentInner {
    pub(crate) model: Box<dyn Model>,
    pub(crate) tools: Dispatcher,
    pub(crate) modes: ModeTable,
    pub(crate) mode: Mode,
    pub(crate) limits: RunLimits,
    pub(crate) options: ModelOptions,
    pub(crate) concurrency: Option<NonZeroUsize>,
    pub(crate) store: Option<Box<dyn ConversationStore>>,
    pub(crate) shortlist: Option<Shortlist>,
    pub(crate) deferred: Option<Deferred>,
    pub(crate) confirm: Option<Arc<dyn Confirm>>,
    /// Set if the confirmer decides during the run, unlike [`Deferred`].
    #[cfg_attr(not(feature = "spawn"), expect(dead_code, reason = "sub-agents want to know"))]
    pub(crate) has_confirmer: bool,
    pub(crate) call_ids: CallIds,
    /// The runs in progress.
    pub(crate) runs: RunRegistry,
    conversations: ConversationCache,
}

impl Agent {
    /// Returns a builder for an agent.
    pub fn builder(model: impl Model, tools: Dispatcher) -> AgentBuilder {
        AgentBuilder {
            model: Box::new(model),
            tools,
            system: String::new(),
            prompts: Prompts::default(),
            mode: Mode::default(),
            limits: RunLimits::default(),
            options: ModelOptions::default(),
            concurrency: None,
            store: None,
            shortlist: None,
            deferred: None,
            confirm: None,
            idle_conversations: 1_000,
        }
    }

    /// Returns the conversation with this id, which may be new. All handles with the same id share one conversation.
    #[must_use]
    pub fn conversation(&self, id: impl AsRef<str>) -> Conversation {
        Conversation { agent: self.clone(), shared: self.inner.conversations.get(id.as_ref()) }
    }

    /// Returns a new conversation that is neither stored nor shared with other handles of the same id.
    #[must_use]
    pub fn temporary_conversation(&self, id: impl AsRef<str>) -> Conversation {
        Conversation { agent: self.clone(), shared: Arc::new(ConversationShared::temporary(id.as_ref())) }
    }

    /// Returns the tools that the agent has in [`Mode::Build`].
    #[must_use]
    pub fn tools(&self) -> &Dispatcher {
        &self.inner.tools
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AgentInner { model, tools, mode, limits, .. } = &*self.inner;
        let mut shown = f.debug_struct("Agent");
        shown.field("model", &model.name()).field("tools", tools).field("mode", mode).field("limits", limits);
        shown.finish_non_exhaustive()
    }
}

/// A builder for an agent; see [`Agent::builder`].
#[must_use = "a builder does nothing until `build()`"]
pub struct AgentBuilder {
    model: Box<dyn Model>,
    tools: Dispatcher,
    system: String,
    prompts: Prompts,
    mode: Mode,
    limits: RunLimits,
    options: ModelOptions,
    concurrency: Option<NonZeroUsize>,
    store: Option<Box<dyn ConversationStore>>,
    shortlist: Option<Shortlist>,
    deferred: Option<Deferred>,
    confirm: Option<Arc<dyn Confirm>>,
    idle_conversations: usize,
}

impl AgentBuilder {
    /// Sets the system prompt, which is sent in every mode.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Sets the prompt of a mode, which follows the system prompt. Each mode has a default; an empty text removes it.
    pub fn prompt(mut self, mode: Mode, prompt: impl Into<String>) -> Self {
        self.prompts[mode as usize] = Some(prompt.into());
        self
    }

    /// Sets the mode of new conversations. Defaults to [`Mode::Build`].
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the limits of each run.
    pub fn limits(mut self, limits: RunLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the generation options of the model.
    pub fn options(mut self, options: ModelOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets how many calls of one turn run at a time. Defaults to 16.
    pub fn concurrency(mut self, concurrency: NonZeroUsize) -> Self {
        self.concurrency = Some(concurrency);
        self
    }

    /// Sends the model a shortlist of tools instead of all of them. The shortlist contains its pinned tools, tools that
    /// the model has called, tools that match the user's words, and tools that the model found with `search_tools`,
    /// which the dispatcher must offer. The model has to find any other tool first, because most providers know tools
    /// by encoded names that only exist for the tools in the request.
    ///
    /// ```standalone_crate
    /// use tool_agent::{Agent, Reply, ScriptedModel};
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
    /// let model = ScriptedModel::from_fn(|request| {
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

    /// Sets where conversations are stored, such as a [`SqliteStore`](crate::SqliteStore). Without a store they exist
    /// until the agent is dropped.
    pub fn store(mut self, store: impl ConversationStore) -> Self {
        self.store = Some(Box::new(store));
        self
    }

    /// Sets the confirmer that is asked during a run, such as a terminal or an open page. Overrides the dispatcher's.
    pub fn confirm(mut self, confirm: impl Confirm) -> Self {
        self.confirm = Some(Arc::new(confirm));
        self
    }

    /// Defers approvals: the run ends, and [`Conversation::decide`](crate::Conversation::decide) resumes it, also after
    /// a restart if the store of `deferred` is on disk. Used unless a [confirmer](Self::confirm) is set.
    pub fn deferred(mut self, deferred: Deferred) -> Self {
        self.deferred = Some(deferred);
        self
    }

    /// Sets how many idle conversations stay in memory. The least recently used are evicted: with a store they are
    /// loaded again when needed, without one they are lost. Defaults to 1,000.
    pub fn max_idle_conversations(mut self, conversations: usize) -> Self {
        self.idle_conversations = conversations;
        self
    }

    /// Builds the agent.
    #[must_use]
    pub fn build(self) -> Agent {
        let Self { model, tools, mode, limits, options, concurrency, store, shortlist, deferred, confirm, .. } = self;
        let has_confirmer = confirm.is_some();
        let confirm = confirm.or_else(|| deferred.clone().map(|deferred| Arc::new(deferred) as _));
        let modes = ModeTable::new(&tools, &self.system, &self.prompts);
        let inner = AgentInner {
            model,
            tools,
            modes,
            mode,
            limits,
            options,
            concurrency,
            store,
            shortlist,
            deferred,
            confirm,
            has_confirmer,
            call_ids: CallIds::default(),
            runs: RunRegistry::default(),
            conversations: ConversationCache::new(self.idle_conversations),
        };
        Agent { inner: Arc::new(inner) }
    }
}
