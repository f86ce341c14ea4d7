//! Whoever runs sub-agents.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use tool_runtime::{CancellationToken, Progress};

/// Runs sub-agents.
pub trait Spawner: Send + Sync + 'static {
    /// Has a sub-agent do a task; what it answers in the end is the result of the call.
    ///
    /// Dropped, the sub-agent is to stop. What it has running elsewhere hears of that through the task's token.
    fn run(&self, task: Task) -> impl Future<Output = Result<String, SpawnError>> + Send;
}

impl<S: Spawner> Spawner for Arc<S> {
    fn run(&self, task: Task) -> impl Future<Output = Result<String, SpawnError>> + Send {
        (**self).run(task)
    }
}

/// What a sub-agent is to do, and within what bounds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Task {
    /// The task, in the words of whoever gives it.
    pub task: String,
    /// What else it should know.
    pub context: Option<String>,
    /// How many agents are above it.
    pub depth: u32,
    /// The conversation of the sub-agent. The calls that it makes must carry it: that is how what it spawns itself is
    /// known to be one deeper.
    pub conversation: String,
    /// The conversation that it was spawned from.
    pub parent: Option<String>,
    /// The conversation for whose limits its calls [count](tool_runtime::Call::counts_for): that of whoever is above them
    /// all. Otherwise each sub-agent could do once more what may be done once.
    pub counts_for: Option<String>,
    /// When it has to be over.
    pub deadline: Option<Instant>,
    /// Cancelled when the call that spawned it is over, in whatever way.
    pub cancellation: CancellationToken,
    /// Where it says how far it is.
    pub progress: Progress,
}

/// Why a sub-agent did not do its task. The model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnError {
    message: Cow<'static, str>,
}

impl SpawnError {
    /// An error in words.
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
