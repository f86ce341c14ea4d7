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
/// It can be dropped at any await. Dropping it completes the history synchronously: the partial response, and one result
/// for each call.
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
    pub(super) stopped_by: crate::StopReason,
    /// The calls in progress.
    pub(super) open: Option<Arc<OpenCalls>>,
    /// The index of this run's last response in the history, unless it was empty.
    pub(super) said: Option<usize>,
    /// The shortlist, if only some of the tools are sent.
    pub(super) fitting: Option<ShortlistedTools>,
    is_over: bool,
    /// Dropped last, because it ends the event stream.
    pub(super) end: EventsGuard,
}

impl LiveRun {
    pub(super) fn new(
        conversation: Conversation,
        state: OwnedMutexGuard<ConversationState>,
        end: EventsGuard,
        stop: StopSignal,
        settings: CallSettings,
        parent: Arc<ParentRun>,
    ) -> Self {
        conversation.agent.inner.running.begins(&conversation.shared.id, &parent);
        Self {
            conversation,
            state,
            stop,
            settings,
            parent,
            turn: 0,
            partial: AssistantMessage::default(),
            used: Usage::default(),
            stopped_by: crate::StopReason::default(),
            open: None,
            said: None,
            fitting: None,
            is_over: false,
            end,
        }
    }

    /// Performs the start of the run. Returns the ending if the model is not to be asked.
    pub(super) async fn begin(&mut self, begin: RunStart) -> Result<(), RunEnding> {
        self.tell(|| AgentEvent::Began { text: begin.text() });
        match begin {
            RunStart::Say(text) => {
                if text.trim().is_empty() {
                    return Err(RunEnding::Failed(ModelError::rejected("the message is empty")));
                }
                self.mend().await;
                self.withdraw().await;
                self.state.history.push(Message::User { text });
                if let Err(not_kept) = self.save().await {
                    // Remove the message, so that a user who repeats it has sent it once.
                    self.state.drop_last();
                    return Err(not_kept);
                }
                self.tell(|| AgentEvent::Kept);
                Ok(())
            }
            RunStart::Decide { token, decision } => self.decide(&token, decision).await,
            RunStart::Resume => {
                self.mend().await;
                self.go_on()
            }
        }
    }

    /// Returns the ending if the model is not to be asked.
    pub(super) fn go_on(&mut self) -> Result<(), RunEnding> {
        self.state.drop_cut_answer();
        let history = &self.state.history;
        match (history::waiting(history), history.last()) {
            (0, Some(Message::Assistant(_))) => {
                self.said = Some(history.len() - 1);
                Err(RunEnding::Answered)
            }
            (0, Some(_)) => Ok(()),
            (0, None) => Err(RunEnding::Answered),
            (waiting, _) => Err(RunEnding::Waiting(waiting)),
        }
    }

    /// Recovers calls of an earlier process, and checks which are still pending.
    pub(super) async fn mend(&mut self) {
        let Self { conversation, state, .. } = self;
        let answered = state.mend(&conversation.agent.inner, &conversation.shared).await;
        self.tell_of(&answered);
    }

    /// Reports calls that are no longer pending.
    pub(super) fn tell_of(&self, answered: &[usize]) {
        let results = history::last_results(&self.state.history);
        for result in answered.iter().filter_map(|at| results.get(*at)) {
            self.tell(|| AgentEvent::CallFinished(Arc::new(result.clone())));
        }
    }

    /// Alternates responses and calls until the run ends.
    pub(super) async fn converse(&mut self) -> RunEnding {
        loop {
            let usage = match self.ask().await {
                Ok(usage) => usage,
                Err(ending) => return ending,
            };
            let calls = match history::open_calls(&self.state.history).is_empty() {
                true => Err(self.answered()),
                false => self.call().await,
            };
            let (turn, total) = (self.turn, self.parent.budget.spent().usage);
            self.tell(|| AgentEvent::TurnEnded { turn, usage, total });
            if let Err(ending) = calls {
                return ending;
            }
        }
    }

    /// Returns the ending of a run whose model calls no more tools. An empty response is fine, unless the model was
    /// prevented from responding.
    fn answered(&self) -> RunEnding {
        match self.said {
            None if self.stopped_by != crate::StopReason::Done => RunEnding::Failed(ModelError::empty(self.stopped_by)),
            _ => RunEnding::Answered,
        }
    }

    /// Adds the response to the history unless it is empty, which providers reject.
    pub(super) fn take_answer(&mut self) {
        let answer = std::mem::take(&mut self.partial);
        if answer.text.trim().is_empty() && answer.calls.is_empty() {
            return;
        }
        self.said = Some(self.state.history.len());
        self.state.history.push(Message::Assistant(answer));
    }

    /// Completes the history, so that it is valid for a provider.
    pub(super) fn settle(&mut self) {
        self.parent.budget.add_unfinished(std::mem::take(&mut self.used), &self.state.history, &self.partial);
        // Calls of a response that was cut off have not run.
        self.partial.calls.clear();
        self.partial.opaque = None;
        self.partial.is_cut = true;
        self.take_answer();
        let open = self.open.take();
        if let Some(open) = &open {
            open.waits_on(&self.end.watchers);
        }
        let open = open.filter(|open| open.has_begun());
        if let Some(open) = &open {
            open.close(&self.end.watchers);
        }
        match open {
            Some(open) if open.is_decision => open.put_into(&mut self.state),
            Some(open) => history::answer(&mut self.state.history, |call| {
                open.take(&call.id).unwrap_or_else(|| stopped(&call.name))
            }),
            // The calls had not started.
            None => history::answer(&mut self.state.history, |call| {
                not_run(&call.name, ErrorKind::Cancelled, "the run was stopped before the call started")
            }),
        }
    }

    pub(super) async fn save(&mut self) -> Result<(), RunEnding> {
        let Self { conversation, state, .. } = self;
        state.save(&conversation.agent.inner, &conversation.shared).await.map_err(RunEnding::NotKept)
    }

    pub(super) fn tell(&self, event: impl FnOnce() -> AgentEvent) {
        self.end.watchers.tell(event);
    }

    /// Ends the run and returns its outcome.
    pub(super) async fn end(mut self, ending: RunEnding) -> RunOutcome {
        self.settle();
        self.state.take_mode(&self.conversation.shared);
        let ending = match self.save().await {
            Ok(()) => ending,
            Err(not_kept) => not_kept,
        };
        self.is_over = true;
        let outcome = self.outcome(ending);
        self.tell(|| AgentEvent::Ended(Arc::new(outcome.clone())));
        outcome
    }

    fn outcome(&self, ending: RunEnding) -> RunOutcome {
        let said = self.said.and_then(|at| self.state.history.get(at));
        let text = match said {
            Some(Message::Assistant(answer)) => answer.text.clone(),
            _ => String::new(),
        };
        let RunUsage { turns, calls, usage } = self.parent.budget.spent();
        RunOutcome { ending, text, stop: self.stopped_by, turns, calls, usage }
    }
}

impl Drop for LiveRun {
    fn drop(&mut self) {
        let Conversation { agent, shared } = &self.conversation;
        agent.inner.running.ends(&shared.id, &self.parent);
        if self.is_over {
            return;
        }
        self.settle();
        self.state.take_mode(&self.conversation.shared);
        self.tell(|| AgentEvent::Ended(Arc::new(self.outcome(RunEnding::Cancelled))));
        if !self.state.is_kept() {
            self.conversation.keep_in_background();
        }
    }
}
