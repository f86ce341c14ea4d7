//! A run in progress, and the history that it leaves whenever it ends.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;
use tool_runtime::ErrorKind;

use super::open_calls::OpenCalls;
use super::parent::ParentRun;
use super::stop::StopSignal;
use super::{CallSettings, EventsGuard, RunStart};
use crate::conversation::ConversationState;
use crate::history::{self, not_run, stopped};
use crate::limits::RunUsage;
use crate::shortlist::ShortlistedTools;
use crate::{AgentEvent, AssistantMessage, Conversation, Message, ModelError, RunEnding, RunOutcome, Usage};

/// A run that holds the conversation's lock.
///
/// It can be dropped at any await. Dropping it completes the history synchronously: the partial response, and one
/// result for each call.
pub(super) struct LiveRun {
    pub(super) conversation: Conversation,
    pub(super) state: OwnedMutexGuard<ConversationState>,
    pub(super) stop: StopSignal,
    pub(super) settings: CallSettings,
    /// The settings and budget for sub-agents.
    pub(super) parent: Arc<ParentRun>,
    /// The number of requests to the model in this run, without sub-agents.
    pub(super) turn: u32,
    /// The response in progress.
    pub(super) partial: AssistantMessage,
    /// The tokens used by the response in progress.
    pub(super) used: Usage,
    /// The reason why the last response ended.
    pub(super) stop_reason: crate::StopReason,
    /// The calls in progress.
    pub(super) open: Option<Arc<OpenCalls>>,
    /// The index of this run's last response in the history, unless it was empty.
    pub(super) last_response: Option<usize>,
    /// The shortlist, if only some of the tools are sent.
    pub(super) shortlisted: Option<ShortlistedTools>,
    is_over: bool,
    /// Dropped last, because it ends the event stream.
    pub(super) guard: EventsGuard,
}

impl LiveRun {
    pub(super) fn new(
        conversation: Conversation,
        state: OwnedMutexGuard<ConversationState>,
        guard: EventsGuard,
        stop: StopSignal,
        settings: CallSettings,
        parent: Arc<ParentRun>,
    ) -> Self {
        conversation.agent.inner.runs.insert(&conversation.shared.id, &parent);
        Self {
            conversation,
            state,
            stop,
            settings,
            parent,
            turn: 0,
            partial: AssistantMessage::default(),
            used: Usage::default(),
            stop_reason: crate::StopReason::default(),
            open: None,
            last_response: None,
            shortlisted: None,
            is_over: false,
            guard,
        }
    }

    /// Performs the start of the run. Returns the ending if the model is not to be asked.
    pub(super) async fn start(&mut self, start: RunStart) -> Result<(), RunEnding> {
        self.send(|| AgentEvent::Began { text: start.text() });
        match start {
            RunStart::Say(text) => {
                if text.trim().is_empty() {
                    return Err(RunEnding::Failed(ModelError::rejected("the message is empty")));
                }
                self.recover().await;
                self.withdraw().await;
                self.state.history.push(Message::User { text });
                if let Err(error) = self.save().await {
                    // Remove the message, so that a user who repeats it has sent it once.
                    self.state.drop_last_message();
                    return Err(error);
                }
                self.send(|| AgentEvent::Kept);
                Ok(())
            }
            RunStart::Decide { token, decision } => self.decide(&token, decision).await,
            RunStart::Resume => {
                self.recover().await;
                self.continue_or_end()
            }
        }
    }

    /// Returns the ending if the model is not to be asked.
    pub(super) fn continue_or_end(&mut self) -> Result<(), RunEnding> {
        self.state.drop_partial_response();
        let history = &self.state.history;
        match (history::pending_count(history), history.last()) {
            (0, Some(Message::Assistant(_))) => {
                self.last_response = Some(history.len() - 1);
                Err(RunEnding::Answered)
            }
            (0, Some(_)) => Ok(()),
            (0, None) => Err(RunEnding::Answered),
            (waiting, _) => Err(RunEnding::Waiting(waiting)),
        }
    }

    /// Recovers calls of an earlier process, and checks which are still pending.
    pub(super) async fn recover(&mut self) {
        let Self { conversation, state, .. } = self;
        let resolved = state.recover(&conversation.agent.inner, &conversation.shared).await;
        self.report_resolved(&resolved);
    }

    /// Reports calls that are no longer pending.
    pub(super) fn report_resolved(&self, resolved: &[usize]) {
        let results = history::last_results(&self.state.history);
        for result in resolved.iter().filter_map(|at| results.get(*at)) {
            self.send(|| AgentEvent::CallFinished(Arc::new(result.clone())));
        }
    }

    /// Alternates responses and calls until the run ends.
    pub(super) async fn run_turns(&mut self) -> RunEnding {
        loop {
            let usage = match self.ask().await {
                Ok(usage) => usage,
                Err(ending) => return ending,
            };
            let calls = match history::open_calls(&self.state.history).is_empty() {
                true => Err(self.final_ending()),
                false => self.call().await,
            };
            let (turn, total) = (self.turn, self.parent.budget.spent().usage);
            self.send(|| AgentEvent::TurnEnded { turn, usage, total });
            if let Err(ending) = calls {
                return ending;
            }
        }
    }

    /// Returns the ending of a run whose model calls no more tools. An empty response is fine, unless the model was
    /// prevented from responding.
    fn final_ending(&self) -> RunEnding {
        match self.last_response {
            None if self.stop_reason != crate::StopReason::Done => {
                RunEnding::Failed(ModelError::empty(self.stop_reason))
            }
            _ => RunEnding::Answered,
        }
    }

    /// Adds the response to the history unless it is empty, which providers reject.
    pub(super) fn add_response(&mut self) {
        let response = std::mem::take(&mut self.partial);
        if response.text.trim().is_empty() && response.calls.is_empty() {
            return;
        }
        self.last_response = Some(self.state.history.len());
        self.state.history.push(Message::Assistant(response));
    }

    /// Completes the history, so that it is valid for a provider.
    pub(super) fn complete_history(&mut self) {
        self.parent.budget.add_unfinished(std::mem::take(&mut self.used), &self.state.history, &self.partial);
        // Calls of a response that was cut off have not run.
        self.partial.calls.clear();
        self.partial.opaque = None;
        self.partial.is_cut = true;
        self.add_response();
        let open = self.open.take();
        if let Some(open) = &open {
            open.report_pending(&self.guard.events);
        }
        let open = open.filter(|open| open.may_have_run());
        if let Some(open) = &open {
            open.close(&self.guard.events);
        }
        match open {
            Some(open) if open.is_decision => open.apply_to(&mut self.state),
            Some(open) => history::add_results(&mut self.state.history, |call| {
                open.take(&call.id).unwrap_or_else(|| stopped(&call.name))
            }),
            // The calls had not started.
            None => history::add_results(&mut self.state.history, |call| {
                not_run(&call.name, ErrorKind::Cancelled, "the run was stopped before the call started")
            }),
        }
    }

    pub(super) async fn save(&mut self) -> Result<(), RunEnding> {
        let Self { conversation, state, .. } = self;
        state.save(&conversation.agent.inner, &conversation.shared).await.map_err(RunEnding::NotKept)
    }

    pub(super) fn send(&self, event: impl FnOnce() -> AgentEvent) {
        self.guard.events.send(event);
    }

    /// Ends the run and returns its outcome.
    pub(super) async fn end(mut self, ending: RunEnding) -> RunOutcome {
        self.complete_history();
        self.state.apply_new_mode(&self.conversation.shared);
        let ending = match self.save().await {
            Ok(()) => ending,
            Err(error) => error,
        };
        self.is_over = true;
        let outcome = self.outcome(ending);
        self.send(|| AgentEvent::Ended(Arc::new(outcome.clone())));
        outcome
    }

    fn outcome(&self, ending: RunEnding) -> RunOutcome {
        let response = self.last_response.and_then(|at| self.state.history.get(at));
        let text = match response {
            Some(Message::Assistant(response)) => response.text.clone(),
            _ => String::new(),
        };
        let RunUsage { turns, calls, usage } = self.parent.budget.spent();
        let failed_calls = history::failed_calls(&self.state.history).cloned().collect();
        RunOutcome { ending, text, stop: self.stop_reason, turns, calls, failed_calls, usage }
    }
}

impl Drop for LiveRun {
    fn drop(&mut self) {
        let Conversation { agent, shared } = &self.conversation;
        agent.inner.runs.remove(&shared.id, &self.parent);
        if self.is_over {
            return;
        }
        self.complete_history();
        self.state.apply_new_mode(&self.conversation.shared);
        self.send(|| AgentEvent::Ended(Arc::new(self.outcome(RunEnding::Cancelled))));
        if !self.state.is_saved() {
            self.conversation.save_in_background();
        }
    }
}
