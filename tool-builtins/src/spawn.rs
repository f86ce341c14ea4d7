//! Sub-agents: the tool `spawn`.
//!
//! A [`Spawner`] decides what a sub-agent is: its model, tools and limits. This module limits how deep sub-agents nest,
//! how many run at once and how long they take.
//!
//! ```standalone_crate
//! use serde_json::json;
//! use tool_builtins::spawn::{Spawn, SpawnError, Spawner, Task};
//! use tool_runtime::{Dispatcher, ToolCall};
//!
//! struct Echo;
//!
//! impl Spawner for Echo {
//!     async fn run(&self, task: Task) -> Result<String, SpawnError> {
//!         task.progress.report(json!({"step": 1}));
//!         Ok(format!("{} is done, at depth {}", task.task, task.depth))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Dispatcher::builder().service(Spawn::new(Echo)).build()?;
//! let call = ToolCall::new("spawn", json!({"task": "The survey"})).conversation("chat-7");
//! assert_eq!(tools.call(call).await.output, "The survey is done, at depth 1");
//! # Ok(())
//! # }
//! ```

mod agent_tree;

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tool_runtime::inject::{CallPermit, Deadline, Notes};
use tool_runtime::{CancellationToken, Context, HandlerError, Progress, tool, tool_class};

use self::agent_tree::{AgentTree, SpawnLimits, SpawnRefusal};

/// Service for the tool `spawn`, which delegates tasks to sub-agents through a [`Spawner`].
///
/// By default sub-agents may spawn one further level, and eight run at once for five minutes each. The spawner chooses
/// the dispatcher for a sub-agent's calls; approvals are requested there.
#[derive(Clone)]
pub struct Spawn {
    spawner: Arc<dyn AnySpawner>,
    agents: Arc<AgentTree>,
    limits: SpawnLimits,
    timeout: Duration,
}

/// Object-safe form of [`Spawner`]; a tool class cannot be generic.
trait AnySpawner: Send + Sync {
    fn run(&self, task: Task) -> Pin<Box<dyn Future<Output = Result<String, SpawnError>> + Send + '_>>;
}

impl<S: Spawner> AnySpawner for S {
    fn run(&self, task: Task) -> Pin<Box<dyn Future<Output = Result<String, SpawnError>> + Send + '_>> {
        Box::pin(Spawner::run(self, task))
    }
}

impl Spawn {
    /// Creates the service for a spawner.
    pub fn new(spawner: impl Spawner) -> Self {
        Self {
            spawner: Arc::new(spawner),
            agents: Arc::default(),
            limits: SpawnLimits { depth: 2, running: 8 },
            timeout: Duration::from_secs(300),
        }
    }

    /// Sets how deep sub-agents may nest. With 1, a sub-agent cannot spawn another. The default is 2.
    #[must_use]
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.limits.depth = depth;
        self
    }

    /// Sets how many sub-agents may run at once, across all depths. The default is 8. A further one is rejected rather
    /// than queued, because the running ones may be waiting for it.
    #[must_use]
    pub fn max_running(mut self, running: usize) -> Self {
        self.limits.running = running;
        self
    }

    /// Sets how long a sub-agent may run; the call's deadline applies too. The default is five minutes.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

#[tool_class(manual, category = "agent")]
impl Spawn {
    /// Have a sub-agent do a task on its own and get its final answer. It knows nothing of this conversation except
    /// what you tell it.
    #[tool(name = "spawn")]
    #[allow(clippy::too_many_arguments, reason = "most of them are injected")]
    pub async fn run(
        &self,
        /// The task, with everything needed to do it and what the answer should contain.
        #[arg(min_length = 1)]
        task: String,
        /// Anything else the sub-agent should know, such as results so far.
        context: Option<String>,
        #[inject] origin: &Context,
        #[inject] deadline: &Deadline,
        #[inject] cancellation: &CancellationToken,
        #[inject] progress: &Progress,
        #[inject] notes: &Notes,
        #[inject] permit: &CallPermit,
    ) -> Result<String, HandlerError> {
        let parent = origin.conversation();
        let agent = self.agents.add(parent, self.limits).map_err(|refusal| self.refused(refusal))?;
        notes.insert("conversation", &agent.conversation);
        // The sub-agent may call the same dispatcher and must not wait for this call's permit.
        permit.release();
        let token = cancellation.child_token();
        let _cancel_on_drop = token.clone().drop_guard();
        let limit = deadline.remaining().map_or(self.timeout, |remaining| remaining.min(self.timeout));
        let running = self.spawner.run(Task {
            task,
            context,
            depth: agent.depth,
            conversation: agent.conversation.clone(),
            parent: parent.map(str::to_owned),
            counts_for: agent.root.clone(),
            deadline: Instant::now().checked_add(limit),
            cancellation: token,
            progress: progress.clone(),
        });
        match tokio::time::timeout(limit, running).await {
            Ok(answer) => Ok(answer?),
            Err(_) => {
                Err(HandlerError::failed(format!("The sub-agent did not finish within {limit:?} and was stopped.")))
            }
        }
    }

    fn refused(&self, refusal: SpawnRefusal) -> HandlerError {
        match refusal {
            SpawnRefusal::TooDeep => HandlerError::fatal(format!(
                "Sub-agents may nest at most {} deep. Do the task yourself.",
                self.limits.depth
            )),
            SpawnRefusal::TooMany => HandlerError::failed(format!(
                "The limit of {} running sub-agents is reached. Do the task yourself, or try again when one has finished.",
                self.limits.running
            )),
        }
    }
}

impl fmt::Debug for Spawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn").field("limits", &self.limits).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Runs sub-agents. The application implements this trait.
pub trait Spawner: Send + Sync + 'static {
    /// Runs a sub-agent until it has done the task. Its final answer is the result of the call.
    ///
    /// Dropping the future stops the sub-agent. Work that it has spawned elsewhere is notified through
    /// [`Task::cancellation`].
    fn run(&self, task: Task) -> impl Future<Output = Result<String, SpawnError>> + Send;
}

impl<S: Spawner> Spawner for Arc<S> {
    fn run(&self, task: Task) -> impl Future<Output = Result<String, SpawnError>> + Send {
        (**self).run(task)
    }
}

/// A task for a sub-agent, and its limits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Task {
    /// The task, as written by the model.
    pub task: String,
    /// Further context, as written by the model.
    pub context: Option<String>,
    /// The number of agents above this one.
    pub depth: u32,
    /// The sub-agent's conversation. Its calls must carry this id, so that nested spawns are counted one level deeper.
    pub conversation: String,
    /// The conversation that spawned it.
    pub parent: Option<String>,
    /// The conversation whose limits its calls [count](tool_runtime::Call::counts_for) against: that of the outermost
    /// agent. Otherwise every sub-agent would get a fresh allowance.
    pub counts_for: Option<String>,
    /// The time by which it must have finished.
    pub deadline: Option<Instant>,
    /// Cancelled when the call that spawned it ends for any reason.
    pub cancellation: CancellationToken,
    /// Reports the sub-agent's progress.
    pub progress: Progress,
}

/// The reason why a sub-agent failed. The model reads the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnError {
    message: Cow<'static, str>,
}

impl SpawnError {
    /// Creates an error with this message.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SpawnError {}
