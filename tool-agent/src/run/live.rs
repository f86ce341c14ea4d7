//! A run that goes on, and what it leaves behind whenever it ends.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;
use tool_runtime::ErrorKind;

use super::open::Open;
use super::running::Parent;
use super::stop::Stop;
use super::{Begin, End, Settings};
use crate::conversation::State;
use crate::history::{self, not_run, stopped};
use crate::limits::Spent;
use crate::sent::Fitting;
use crate::{Assistant, Conversation, Ending, Event, Message, ModelError, Outcome, Usage};

/// A run that has the conversation to itself.
///
/// At every moment it can be dropped. What it was about is put into the history then, in one step and without waiting:
/// what the model has said so far, and one result for each call.
pub(super) struct Live {
    pub(super) conversation: Conversation,
    pub(super) state: OwnedMutexGuard<State>,
    pub(super) stop: Stop,
    pub(super) settings: Settings,
    /// What sub-agents have from this run.
    pub(super) parent: Arc<Parent>,
    /// How often this run itself has asked the model.
    pub(super) turn: u32,
    /// The answer that is coming.
    pub(super) partial: Assistant,
    /// The tokens that the answer that is coming has used so far.
    pub(super) used: Usage,
    /// Why the last answer has ended.
    pub(super) stopped_by: crate::Stop,
    /// The calls that run.
    pub(super) open: Option<Arc<Open>>,
    /// Where in the history the last answer of this run stands, if there is anything in it.
    pub(super) said: Option<usize>,
    /// Which tools the model is sent, where it is not all of them.
    pub(super) fitting: Option<Fitting>,
    is_over: bool,
    /// Goes last: nothing is told after it.
    pub(super) end: End,
}

impl Live {
    pub(super) fn new(
        conversation: Conversation,
        state: OwnedMutexGuard<State>,
        end: End,
        stop: Stop,
        settings: Settings,
        parent: Arc<Parent>,
    ) -> Self {
        conversation.agent.inner.running.begins(&conversation.shared.id, &parent);
        Self {
            conversation,
            state,
            stop,
            settings,
            parent,
            turn: 0,
            partial: Assistant::default(),
            used: Usage::default(),
            stopped_by: crate::Stop::default(),
            open: None,
            said: None,
            fitting: None,
            is_over: false,
            end,
        }
    }

    /// Does what the run begins with. Then it is the model's turn, unless the run has ended with that.
    pub(super) async fn begin(&mut self, begin: Begin) -> Result<(), Ending> {
        self.tell(|| Event::Began { text: begin.text() });
        match begin {
            Begin::Say(text) => {
                if text.trim().is_empty() {
                    return Err(Ending::Failed(ModelError::rejected("there is nothing to answer: the text is empty")));
                }
                self.mend().await;
                self.withdraw().await;
                self.state.history.push(Message::User { text });
                if let Err(not_kept) = self.save().await {
                    // It was not said: a person who says it again has said it once.
                    self.state.drop_last();
                    return Err(not_kept);
                }
                self.tell(|| Event::Kept);
                Ok(())
            }
            Begin::Decide { token, decision } => self.decide(&token, decision).await,
            Begin::Resume => {
                self.mend().await;
                self.go_on()
            }
        }
    }

    /// Whether it is the model's turn.
    pub(super) fn go_on(&mut self) -> Result<(), Ending> {
        self.state.drop_cut_answer();
        let history = &self.state.history;
        match (history::waiting(history), history.last()) {
            (0, Some(Message::Assistant(_))) => {
                self.said = Some(history.len() - 1);
                Err(Ending::Answered)
            }
            (0, Some(_)) => Ok(()),
            (0, None) => Err(Ending::Answered),
            (waiting, _) => Err(Ending::Waiting(waiting)),
        }
    }

    /// Looks which calls still wait.
    pub(super) async fn mend(&mut self) {
        let Self { conversation, state, .. } = self;
        let answered = state.mend(&conversation.agent.inner, &conversation.shared).await;
        self.tell_of(&answered);
    }

    /// Tells of calls that wait no more, by the places of their results.
    pub(super) fn tell_of(&self, answered: &[usize]) {
        let results = history::last_results(&self.state.history);
        for result in answered.iter().filter_map(|at| results.get(*at)) {
            self.tell(|| Event::CallFinished(Arc::new(result.clone())));
        }
    }

    /// The model's turns, and its calls, until there is an end.
    pub(super) async fn converse(&mut self) -> Ending {
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
            self.tell(|| Event::TurnEnded { turn, usage, total });
            if let Err(ending) = calls {
                return ending;
            }
        }
    }

    /// What a run has come to whose model calls nothing more. One that has nothing to add has answered; one that was
    /// kept from saying anything has not.
    fn answered(&self) -> Ending {
        match self.said {
            None if self.stopped_by != crate::Stop::Done => Ending::Failed(ModelError::empty(self.stopped_by)),
            _ => Ending::Answered,
        }
    }

    /// Puts the answer that has come into the history, if there is anything in it: providers refuse an empty one.
    pub(super) fn take_answer(&mut self) {
        let answer = std::mem::take(&mut self.partial);
        if answer.text.trim().is_empty() && answer.calls.is_empty() {
            return;
        }
        self.said = Some(self.state.history.len());
        self.state.history.push(Message::Assistant(answer));
    }

    /// Makes the history one that a provider takes, with what there is at this moment.
    pub(super) fn settle(&mut self) {
        self.parent.budget.add_unfinished(std::mem::take(&mut self.used), &self.state.history, &self.partial);
        // Calls of an answer that was cut off were not promised to run, and have not run.
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
            // Whatever has stopped it, they had not begun.
            None => history::answer(&mut self.state.history, |call| {
                not_run(&call.name, ErrorKind::Cancelled, "everything was stopped before it could begin")
            }),
        }
    }

    pub(super) async fn save(&mut self) -> Result<(), Ending> {
        let Self { conversation, state, .. } = self;
        state.save(&conversation.agent.inner, &conversation.shared).await.map_err(Ending::NotKept)
    }

    pub(super) fn tell(&self, event: impl FnOnce() -> Event) {
        self.end.watchers.tell(event);
    }

    /// Ends the run, and says what came of it.
    pub(super) async fn end(mut self, ending: Ending) -> Outcome {
        self.settle();
        self.state.take_mode(&self.conversation.shared);
        let ending = match self.save().await {
            Ok(()) => ending,
            Err(not_kept) => not_kept,
        };
        self.is_over = true;
        let outcome = self.outcome(ending);
        self.tell(|| Event::Ended(Arc::new(outcome.clone())));
        outcome
    }

    fn outcome(&self, ending: Ending) -> Outcome {
        let said = self.said.and_then(|at| self.state.history.get(at));
        let text = match said {
            Some(Message::Assistant(answer)) => answer.text.clone(),
            _ => String::new(),
        };
        let Spent { turns, calls, usage } = self.parent.budget.spent();
        Outcome { ending, text, stop: self.stopped_by, turns, calls, usage }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let Conversation { agent, shared } = &self.conversation;
        agent.inner.running.ends(&shared.id, &self.parent);
        if self.is_over {
            return;
        }
        self.settle();
        self.state.take_mode(&self.conversation.shared);
        self.tell(|| Event::Ended(Arc::new(self.outcome(Ending::Cancelled))));
        if !self.state.is_kept() {
            self.conversation.keep_in_background();
        }
    }
}
