//! Recovery of a conversation that an earlier process left unfinished.

use std::collections::HashSet;
use std::time::SystemTime;

use tool_runtime::journal::{EntryState as Record, Journal};
use tool_runtime::{ErrorKind, ToolResult};

use super::{ConversationShared, ConversationState};
use crate::agent::AgentInner;
use crate::history::{self, not_run, still_running, unknown};
use crate::{AssistantMessage, CallResult, Message};

impl ConversationState {
    /// Adds results for calls that a crashed process left open, based on the journal, and checks which calls are still
    /// pending. Returns the indices of calls that are no longer pending.
    pub(crate) async fn mend(&mut self, agent: &AgentInner, shared: &ConversationShared) -> Vec<usize> {
        let (is_open, is_pending) =
            (!history::open_calls(&self.history).is_empty(), history::waiting(&self.history) > 0);
        // A temporary conversation is not stored, so no process can have left it unfinished.
        if shared.is_temporary || (!is_open && !is_pending) {
            return Vec::new();
        }
        let waiting = PendingCalls::load(agent, shared).await;
        if is_open {
            self.answer_open_calls(agent, shared, &waiting).await;
            return Vec::new();
        }
        let waits_on = |id: &str| match &waiting {
            PendingCalls::Known(ids) => ids.contains(id),
            // They may or may not be pending: leave them as they are.
            PendingCalls::Unknown => true,
            PendingCalls::Disabled => false,
        };
        self.answer_unless(waits_on, agent, shared, &waiting).await
    }

    /// Adds results for all pending calls, based on the journal, when the user has continued and they cannot be
    /// withdrawn. Returns the indices of the results.
    pub(crate) async fn answer_waiting(&mut self, agent: &AgentInner, shared: &ConversationShared) -> Vec<usize> {
        self.answer_unless(|_| false, agent, shared, &PendingCalls::Unknown).await
    }

    async fn answer_open_calls(&mut self, agent: &AgentInner, shared: &ConversationShared, waiting: &PendingCalls) {
        let mut results = Vec::new();
        for call in history::open_calls(&self.history) {
            results.push(match waiting {
                PendingCalls::Known(ids) if ids.contains(&call.id) => pending(&call.name),
                _ => match self.outcome(agent, shared, &call.id).await {
                    RecordedOutcome::Finished(result) => result,
                    RecordedOutcome::StillRunning | RecordedOutcome::MayStart => still_running(&call.name),
                    RecordedOutcome::NotStarted => not_started(&call.name),
                    RecordedOutcome::Unfinished | RecordedOutcome::Unknown => unknown(&call.name),
                },
            });
        }
        let mut results = results.into_iter();
        history::answer(&mut self.history, |call| results.next().unwrap_or_else(|| unknown(&call.name)));
    }

    /// Resolves calls that cannot be approved any more, which would otherwise block the conversation forever.
    async fn answer_unless(
        &mut self,
        waits_on: impl Fn(&str) -> bool,
        agent: &AgentInner,
        shared: &ConversationShared,
        waiting: &PendingCalls,
    ) -> Vec<usize> {
        let mut answered = Vec::new();
        for (at, result) in history::last_results(&self.history).iter().enumerate() {
            if result.is_pending() && !waits_on(&result.id) {
                let outcome = self.outcome(agent, shared, &result.id).await;
                answered.push((at, no_longer_waiting(outcome, result, waiting)));
            }
        }
        let places = answered.iter().map(|(at, _)| *at).collect();
        for (at, result) in answered {
            self.replace(at, result);
        }
        places
    }

    /// Returns the recorded outcome of one of the last calls.
    async fn outcome(&self, agent: &AgentInner, shared: &ConversationShared, id: &str) -> RecordedOutcome {
        let answer = history::last_answer(&self.history).and_then(|at| self.history.get(at));
        let (journal, opening) = match answer {
            Some(Message::Assistant(AssistantMessage { journal, opening, .. })) => (journal.as_deref(), *opening),
            _ => (None, None),
        };
        // A journal that was created later has no record of them.
        let would_be_on_record = journal.is_some() && journal == agent.tools.journal().and_then(Journal::identity);
        // Checked before the journal is read: a process that is gone by now writes nothing more.
        let may_begin = opening
            .is_some_and(|opening| agent.tools.journal().is_some_and(|journal| journal.is_open_elsewhere(opening)));
        match RecordedOutcome::load(agent, shared, id).await {
            RecordedOutcome::NotStarted if !would_be_on_record => RecordedOutcome::Unknown,
            RecordedOutcome::NotStarted if may_begin => RecordedOutcome::MayStart,
            outcome => outcome,
        }
    }
}

fn no_longer_waiting(outcome: RecordedOutcome, waited: &CallResult, waiting: &PendingCalls) -> ToolResult {
    let refused = |because| not_run(&waited.name, ErrorKind::Refused, because);
    match outcome {
        RecordedOutcome::Finished(result) => result,
        RecordedOutcome::Unfinished => unknown(&waited.name),
        RecordedOutcome::StillRunning => still_running(&waited.name),
        _ if matches!(waiting, PendingCalls::Disabled) => refused("the agent can no longer ask for approval"),
        _ if waited.expires().is_some_and(|expires| expires <= SystemTime::now()) => refused("the approval expired"),
        RecordedOutcome::NotStarted => not_started(&waited.name),
        RecordedOutcome::MayStart => still_running(&waited.name),
        RecordedOutcome::Unknown => unknown(&waited.name),
    }
}

/// The calls of a conversation that are pending approval.
enum PendingCalls {
    Known(HashSet<String>),
    /// The agent has no deferred approvals.
    Disabled,
    /// The store of pending calls cannot be read.
    Unknown,
}

impl PendingCalls {
    async fn load(agent: &AgentInner, shared: &ConversationShared) -> Self {
        let Some(deferred) = &agent.deferred else { return Self::Disabled };
        match deferred.waiting(&shared.id, SystemTime::now()).await {
            Ok(waiting) => Self::Known(waiting.into_iter().filter_map(|(_, call)| call.question.call_id).collect()),
            Err(_) => Self::Unknown,
        }
    }
}

/// The outcome of a call according to the journal.
enum RecordedOutcome {
    /// The call finished with this result.
    Finished(ToolResult),
    /// The call started, and its outcome will never be known.
    Unfinished,
    /// Another process is running the call.
    StillRunning,
    /// The journal has no record of a start.
    NotStarted,
    /// Not started, but another live process may still start it.
    MayStart,
    /// There is no journal to ask.
    Unknown,
}

impl RecordedOutcome {
    async fn load(agent: &AgentInner, shared: &ConversationShared, id: &str) -> Self {
        match agent.tools.recall(&shared.id, id).await {
            Ok(Some(Record::Finished(mut finished))) => {
                finished.result.metadata.insert("replayed", true);
                Self::Finished(finished.result)
            }
            Ok(Some(Record::Running)) => Self::StillRunning,
            Ok(Some(Record::Unfinished)) => Self::Unfinished,
            Ok(Some(Record::Noted)) => Self::NotStarted,
            Ok(None) => Self::Unknown,
            Err(error) => {
                tracing::error!(conversation = &*shared.id, %error, "cannot read the outcome of a call from the journal");
                Self::Unknown
            }
        }
    }
}

fn not_started(tool: &str) -> ToolResult {
    not_run(tool, ErrorKind::Cancelled, "the run was stopped before the call started")
}

/// The placeholder result of a pending call.
fn pending(tool: &str) -> ToolResult {
    not_run(tool, ErrorKind::Pending, "it is waiting for approval")
}
