//! Sub-agents for the built-in tool `spawn`.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use serde_json::json;
use tool_builtins::spawn::{SpawnError, Spawner, Task};
use tool_runtime::confirm::{self, Decision};

use crate::agent::AgentInner;
use crate::{Agent, AgentEvent, AgentUpdate, Run, RunEnding, StopReason};

/// Runs each task as a sub-agent in a temporary conversation.
///
/// The sub-agent's calls are reported as progress of the call that spawned it. Its calls are confirmed by the agent's
/// confirmer. If approvals are deferred, calls that need one are refused, because a sub-agent cannot wait.
///
/// A sub-agent that is spawned in a run of the same agent is part of that run: its turns, calls and tokens count
/// towards the run's limits and outcome, and it inherits the run's [confirmer](Run::confirm), [call
/// settings](Run::each) and mode. A sub-agent of another agent has its own limits and settings.
///
/// For an agent that spawns itself use [`SubAgents`].
impl Spawner for Agent {
    async fn run(&self, task: Task) -> Result<String, SpawnError> {
        let conversation = self.temporary_conversation(&task.conversation);
        let text = match &task.context {
            Some(context) => format!("{}\n\n{context}", task.task),
            None => task.task,
        };
        let parent = task.parent.as_deref().and_then(|parent| self.inner.runs.get(parent));
        let mut limits = self.inner.limits.clone();
        if let Some(deadline) = task.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            limits.time = Some(limits.time.map_or(left, |time| time.min(left)));
        }
        let mut run = conversation.say(text).cancel(task.cancellation).limits(limits);
        if let Some(parent) = &parent {
            run = run.with_parent(parent);
        }
        run = run.counts_for(task.counts_for);
        let has_confirmer = self.inner.has_confirmer || parent.is_some_and(|parent| parent.has_confirmer());
        if self.inner.deferred.is_some() && !has_confirmer {
            run = run.confirm(confirm::from_fn(|_| async {
                Decision::refuse("it needs approval, and a sub-agent cannot wait for it")
            }));
        }
        let outcome = match task.progress.is_heard() {
            true => reporting(run, |report| task.progress.report(report)).await,
            false => run.await,
        };
        match outcome.ending {
            RunEnding::Answered if outcome.text.is_empty() => {
                Err(SpawnError::new("The sub-agent returned an empty answer."))
            }
            RunEnding::Answered if outcome.stop != StopReason::Done => {
                Err(SpawnError::new(format!("The sub-agent's answer was cut off. The text so far: {}", outcome.text)))
            }
            RunEnding::Answered => Ok(outcome.text),
            ending if outcome.text.is_empty() => {
                Err(SpawnError::new(format!("The sub-agent did not answer: {ending}.")))
            }
            ending => {
                Err(SpawnError::new(format!("The sub-agent did not finish: {ending}. Its last text: {}", outcome.text)))
            }
        }
    }
}

/// Awaits a run and reports its calls.
async fn reporting(run: Run, report: impl Fn(serde_json::Value)) -> crate::RunOutcome {
    let mut events = run.events();
    let report_update = |update: AgentUpdate| match update.into_event() {
        Some(AgentEvent::CallStarted { tool, arguments, .. }) => report(json!({"calls": tool, "arguments": arguments})),
        Some(AgentEvent::CallFinished(ended)) => {
            report(json!({"called": ended.name, "success": ended.result.success}));
        }
        _ => {}
    };
    let mut run = run.into_future();
    let outcome = loop {
        tokio::select! {
            biased;
            Some(update) = events.next() => report_update(update),
            outcome = &mut run => break outcome,
        }
    };
    while let Some(update) = events.try_next() {
        report_update(update);
    }
    outcome
}

/// Sub-agents of an agent that does not exist yet, because its tools, including `spawn`, are built first.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_agent::{Agent, Message, Reply, ScriptedModel, SubAgents};
/// use tool_builtins::spawn::Spawn;
/// use tool_runtime::Dispatcher;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sub_agents = SubAgents::default();
/// let tools = Dispatcher::builder().service(Spawn::new(sub_agents.clone())).build()?;
/// let model = ScriptedModel::from_fn(|request| match request.messages {
///     [Message::User { text }] if text == "Count the files." => Reply::text("There are three."),
///     [_] => Reply::call("spawn", json!({"task": "Count the files."})),
///     _ => Reply::text("My sub-agent has counted them."),
/// });
/// let agent = Agent::builder(model, tools).build();
/// sub_agents.bind(&agent);
///
/// let outcome = agent.conversation("chat-7").say("How many files are there?").await;
/// assert_eq!(outcome.answer(), Some("My sub-agent has counted them."));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct SubAgents {
    /// Weak, because the agent owns its tools, which own this.
    agent: Arc<OnceLock<Weak<AgentInner>>>,
}

impl SubAgents {
    /// Sets the agent. Only the first call has an effect.
    pub fn bind(&self, agent: &Agent) {
        let _ = self.agent.set(Arc::downgrade(&agent.inner));
    }
}

impl Spawner for SubAgents {
    async fn run(&self, task: Task) -> Result<String, SpawnError> {
        let inner = self.agent.get().and_then(Weak::upgrade);
        let inner = inner.ok_or_else(|| SpawnError::new("There are no sub-agents: do the task yourself."))?;
        Agent { inner }.run(task).await
    }
}

impl std::fmt::Debug for SubAgents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubAgents").finish_non_exhaustive()
    }
}
