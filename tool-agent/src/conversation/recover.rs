//! Recovery of a conversation that an earlier process left unfinished.

use std::collections::HashSet;
use std::time::SystemTime;

use tool_runtime::journal::{EntryState as Record, Journal};
use tool_runtime::{ErrorKind, ToolResult};

use super::{ConversationShared, ConversationState};
use crate::agent::AgentInner;
use crate::history::{self, not_run, still_running, unknown_outcome};
use crate::{AssistantMessage, CallResult, Message};

impl ConversationState {
    /// Adds results for calls that a crashed process left open, based on the journal, and checks which calls are still
    /// pending. Returns the indices of calls that are no longer pending.
    pub(crate) async fn recover(&mut self, agent: &AgentInner, shared: &ConversationShared) -> Vec<usize> {
        let (is_open, is_pending) =
            (!history::open_calls(&self.history).is_empty(), history::pending_count(&self.history) > 0);
        // A temporary conversation is not stored, so no process can have left it unfinished.
        if shared.is_temporary || (!is_open && !is_pending) {
            return Vec::new();
        }
        let pending_calls = PendingCalls::load(agent, shared).await;
        if is_open {
            self.resolve_open_calls(agent, shared, &pending_calls).await;
            return Vec::new();
        }
        let is_still_pending = |id: &str| match &pending_calls {
            PendingCalls::Known(ids) => ids.contains(id),
            // They may or may not be pending: leave them as they are.
            PendingCalls::Unknown => true,
            PendingCalls::Disabled => false,
        };
        self.resolve_unless(is_still_pending, agent, shared, &pending_calls).await
    }

    /// Adds results for all pending calls, based on the journal, when the user has continued and they cannot be
    /// withdrawn. Returns the indices of the results.
    pub(crate) async fn resolve_pending(&mut self, agent: &AgentInner, shared: &ConversationShared) -> Vec<usize> {
        self.resolve_unless(|_| false, agent, shared, &PendingCalls::Unknown).await
    }

    async fn resolve_open_calls(
        &mut self,
        agent: &AgentInner,
        shared: &ConversationShared,
        pending_calls: &PendingCalls,
    ) {
        let mut results = Vec::new();
        for call in history::open_calls(&self.history) {
            results.push(match pending_calls {
                PendingCalls::Known(ids) if ids.contains(&call.id) => pending(&call.name),
                _ => match self.recorded_outcome(agent, shared, &call.id).await {
                    RecordedOutcome::Finished(result) => result,
                    RecordedOutcome::StillRunning | RecordedOutcome::MayStart => still_running(&call.name),
                    RecordedOutcome::NotStarted => not_started(&call.name),
                    RecordedOutcome::Unfinished | RecordedOutcome::Unknown => unknown_outcome(&call.name),
                },
            });
        }
        let mut results = results.into_iter();
        history::add_results(&mut self.history, |call| results.next().unwrap_or_else(|| unknown_outcome(&call.name)));
    }

    /// Resolves calls that cannot be approved any more, which would otherwise block the conversation forever.
    async fn resolve_unless(
        &mut self,
        is_still_pending: impl Fn(&str) -> bool,
        agent: &AgentInner,
        shared: &ConversationShared,
        pending_calls: &PendingCalls,
    ) -> Vec<usize> {
        let mut resolved = Vec::new();
        for (at, result) in history::last_results(&self.history).iter().enumerate() {
            if result.is_pending() && !is_still_pending(&result.id) {
                let outcome = self.recorded_outcome(agent, shared, &result.id).await;
                resolved.push((at, resolved_result(outcome, result, pending_calls)));
            }
        }
        let indices = resolved.iter().map(|(at, _)| *at).collect();
        for (at, result) in resolved {
            self.replace(at, result);
        }
        indices
    }

    /// Returns the recorded outcome of one of the last calls.
    async fn recorded_outcome(&self, agent: &AgentInner, shared: &ConversationShared, id: &str) -> RecordedOutcome {
        let response = history::last_response(&self.history).and_then(|at| self.history.get(at));
        let (journal, opening) = match response {
            Some(Message::Assistant(AssistantMessage { journal, opening, .. })) => (journal.as_deref(), *opening),
            _ => (None, None),
        };
        // A journal that was created later has no record of them.
        let would_be_recorded = journal.is_some() && journal == agent.tools.journal().and_then(Journal::identity);
        // Checked before the journal is read: a process that is gone by now writes nothing more.
        let may_start = opening
            .is_some_and(|opening| agent.tools.journal().is_some_and(|journal| journal.is_open_elsewhere(opening)));
        match RecordedOutcome::load(agent, shared, id).await {
            RecordedOutcome::NotStarted if !would_be_recorded => RecordedOutcome::Unknown,
            RecordedOutcome::NotStarted if may_start => RecordedOutcome::MayStart,
            outcome => outcome,
        }
    }
}

fn resolved_result(outcome: RecordedOutcome, placeholder: &CallResult, pending_calls: &PendingCalls) -> ToolResult {
    let refused = |because| not_run(&placeholder.name, ErrorKind::Refused, because);
    match outcome {
        RecordedOutcome::Finished(result) => result,
        RecordedOutcome::Unfinished => unknown_outcome(&placeholder.name),
        RecordedOutcome::StillRunning => still_running(&placeholder.name),
        _ if matches!(pending_calls, PendingCalls::Disabled) => refused("the agent can no longer ask for approval"),
        _ if placeholder.expires().is_some_and(|expires| expires <= SystemTime::now()) => {
            refused("the approval expired")
        }
        RecordedOutcome::NotStarted => not_started(&placeholder.name),
        RecordedOutcome::MayStart => still_running(&placeholder.name),
        RecordedOutcome::Unknown => unknown_outcome(&placeholder.name),
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
            Ok(pending_calls) => {
                Self::Known(pending_calls.into_iter().filter_map(|(_, call)| call.question.call_id).collect())
            }
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
    not_run(tool, ErrorKind::Pending, "it is pending_calls for approval")
}
