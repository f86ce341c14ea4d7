//! Sub-agents for the tool `spawn`.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use serde_json::json;
use tool_builtins::spawn::{SpawnError, Spawner, Task};
use tool_runtime::confirm::{self, Decision};

use crate::agent::Inner;
use crate::{Agent, Ending, Event, Run, Stop, Update};

/// An agent does tasks as a sub-agent, each in a conversation of its own that is forgotten afterwards.
///
/// What it calls is reported as the progress of the call that spawned it. It answers to whoever asks the agent's
/// questions at once; for somebody who answers later it cannot wait, and does without.
///
/// Spawned in a run of the same agent, it is a part of that run: its turns, calls and tokens count for the limits and the
/// outcome of that one, which also says whom to [ask](Run::confirm), what to [tell](Run::each) each call, and the mode.
/// Another agent goes by limits and settings of its own.
///
/// For an agent that is to spawn itself there is [`SubAgents`].
impl Spawner for Agent {
    async fn run(&self, task: Task) -> Result<String, SpawnError> {
        let conversation = self.passing_conversation(&task.conversation);
        let text = match &task.context {
            Some(context) => format!("{}\n\n{context}", task.task),
            None => task.task,
        };
        let parent = task.parent.as_deref().and_then(|parent| self.inner.running.get(parent));
        let mut limits = self.inner.limits.clone();
        if let Some(deadline) = task.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            limits.time = Some(limits.time.map_or(left, |time| time.min(left)));
        }
        let mut run = conversation.say(text).cancel(task.cancellation).limits(limits);
        if let Some(parent) = &parent {
            run = run.below(parent);
        }
        run = run.counts_for(task.counts_for);
        let is_asked = self.inner.is_asked_at_once || parent.is_some_and(|parent| parent.asks());
        if self.inner.deferred.is_some() && !is_asked {
            run = run.confirm(confirm::from_fn(|_| async {
                Decision::refuse("it needs a person's consent, for which a sub-agent cannot wait")
            }));
        }
        let outcome = match task.progress.is_heard() {
            true => reporting(run, |report| task.progress.report(report)).await,
            false => run.await,
        };
        match outcome.ending {
            Ending::Answered if outcome.text.is_empty() => Err(SpawnError::new("The sub-agent has answered nothing.")),
            Ending::Answered if outcome.stop != Stop::Done => Err(SpawnError::new(format!(
                "The sub-agent's answer broke off before its end. What there is of it: {}",
                outcome.text
            ))),
            Ending::Answered => Ok(outcome.text),
            ending if outcome.text.is_empty() => {
                Err(SpawnError::new(format!("The sub-agent has not answered: {ending}.")))
            }
            ending => Err(SpawnError::new(format!(
                "The sub-agent has not come to an end: {ending}. What it said last: {}",
                outcome.text
            ))),
        }
    }
}

/// Runs, and tells what is called meanwhile.
async fn reporting(run: Run, report: impl Fn(serde_json::Value)) -> crate::Outcome {
    let mut events = run.events();
    let tell = |update: Update| match update.into_event() {
        Some(Event::CallStarted { tool, arguments, .. }) => report(json!({"calls": tool, "arguments": arguments})),
        Some(Event::CallFinished(ended)) => {
            report(json!({"called": ended.name, "success": ended.result.success}));
        }
        _ => {}
    };
    let mut run = run.into_future();
    let outcome = loop {
        tokio::select! {
            biased;
            Some(update) = events.next() => tell(update),
            outcome = &mut run => break outcome,
        }
    };
    while let Some(update) = events.try_next() {
        tell(update);
    }
    outcome
}

/// Sub-agents of an agent that is not there yet: its tools, `spawn` among them, come first.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_agent::{Agent, Message, Reply, Scripted, SubAgents};
/// use tool_builtins::spawn::Spawn;
/// use tool_runtime::Dispatcher;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sub_agents = SubAgents::default();
/// let tools = Dispatcher::builder().service(Spawn::new(sub_agents.clone())).build()?;
/// let model = Scripted::from_fn(|request| match request.messages {
///     [Message::User { text }] if text == "Count the files." => Reply::text("There are three."),
///     [_] => Reply::call("spawn", json!({"task": "Count the files."})),
///     _ => Reply::text("My sub-agent has counted them."),
/// });
/// let agent = Agent::builder(model, tools).build();
/// sub_agents.are(&agent);
///
/// let outcome = agent.conversation("chat-7").say("How many files are there?").await;
/// assert_eq!(outcome.answer(), Some("My sub-agent has counted them."));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct SubAgents {
    /// Weak, since the agent has its tools, and they have this.
    agent: Arc<OnceLock<Weak<Inner>>>,
}

impl SubAgents {
    /// Which agent they are of. Said once; what is said later does not count.
    pub fn are(&self, agent: &Agent) {
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
