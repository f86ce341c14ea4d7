//! The service.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tool_runtime::{CancellationToken, Context, Deadline, HandlerError, Notes, Place, Progress, tool, tool_class};

use super::family::{Bounds, Family, NoRoom};
use super::{SpawnError, Spawner, Task};

/// Has sub-agents do tasks, through a [`Spawner`]: the tool `spawn`.
///
/// Unless said otherwise a sub-agent can spawn others, and they cannot; eight run at once, for five minutes each. What
/// a sub-agent does goes through a dispatcher of its own making, and people are asked there.
#[derive(Clone)]
pub struct Spawn {
    spawner: Arc<dyn AnySpawner>,
    family: Arc<Family>,
    bounds: Bounds,
    timeout: Duration,
}

/// A [`Spawner`] of any type: a class of tools cannot be generic.
trait AnySpawner: Send + Sync {
    fn run(&self, task: Task) -> Pin<Box<dyn Future<Output = Result<String, SpawnError>> + Send + '_>>;
}

impl<S: Spawner> AnySpawner for S {
    fn run(&self, task: Task) -> Pin<Box<dyn Future<Output = Result<String, SpawnError>> + Send + '_>> {
        Box::pin(Spawner::run(self, task))
    }
}

impl Spawn {
    /// Sub-agents of this spawner's.
    pub fn new(spawner: impl Spawner) -> Self {
        Self {
            spawner: Arc::new(spawner),
            family: Arc::default(),
            bounds: Bounds { depth: 2, running: 8 },
            timeout: Duration::from_secs(300),
        }
    }

    /// How deep sub-agents nest: with 1 none of them can spawn another.
    #[must_use]
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.bounds.depth = depth;
        self
    }

    /// How many sub-agents run at once, at all depths together. One more is refused, and does not wait: those that run
    /// may be waiting for it.
    #[must_use]
    pub fn max_running(mut self, running: usize) -> Self {
        self.bounds.running = running;
        self
    }

    /// How long a sub-agent may take, if its call's deadline does not come first.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

#[tool_class(manual, category = "agent")]
impl Spawn {
    /// Have a sub-agent do a task on its own and get what it answers in the end. It knows nothing of this conversation
    /// but what you tell it.
    #[tool(name = "spawn")]
    #[allow(clippy::too_many_arguments, reason = "most of them are facts of the call")]
    pub async fn run(
        &self,
        /// The task, with everything that is needed to do it and what the answer should contain.
        #[arg(min_length = 1)]
        task: String,
        /// What else the sub-agent should know, such as results so far.
        context: Option<String>,
        #[inject] origin: &Context,
        #[inject] deadline: &Deadline,
        #[inject] cancellation: &CancellationToken,
        #[inject] progress: &Progress,
        #[inject] notes: &Notes,
        #[inject] place: &Place,
    ) -> Result<String, HandlerError> {
        let parent = origin.conversation();
        let member = self.family.join(parent, self.bounds).map_err(|no_room| self.refused(no_room))?;
        notes.insert("conversation", &member.conversation);
        // The sub-agent's calls may be of the same dispatcher.
        place.leave();
        let token = cancellation.child_token();
        let _cancelled_in_the_end = token.clone().drop_guard();
        let limit = deadline.remaining().map_or(self.timeout, |remaining| remaining.min(self.timeout));
        let running = self.spawner.run(Task {
            task,
            context,
            depth: member.depth,
            conversation: member.conversation.clone(),
            parent: parent.map(str::to_owned),
            counts_for: member.root.clone(),
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

    fn refused(&self, no_room: NoRoom) -> HandlerError {
        match no_room {
            NoRoom::TooDeep => HandlerError::fatal(format!(
                "Sub-agents nest no deeper than {}: do the task yourself.",
                self.bounds.depth
            )),
            NoRoom::TooMany => HandlerError::failed(format!(
                "{} sub-agents are running, and no more may: do the task yourself, or try again when one has finished.",
                self.bounds.running
            )),
        }
    }
}

impl fmt::Debug for Spawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn").field("bounds", &self.bounds).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
