//! One answer of the model.

use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt, StreamExt};
use tool_runtime::Dispatcher;

use super::live::Live;
use crate::sent::Fitting;
use crate::{Answering, Ending, Event, ModelError, ModelErrorKind, Part, Request, Usage};

impl Live {
    /// Asks the model, and puts its answer into the history. What it took is given back.
    pub(super) async fn ask(&mut self) -> Result<Usage, Ending> {
        if let Some(why) = self.stop.now() {
            return Err(why.into());
        }
        self.state.take_mode(&self.conversation.shared);
        self.parent.budget.take_turn().map_err(Ending::Limit)?;
        self.turn += 1;
        self.parent.set_mode(self.state.mode);
        self.said = None;
        let agent = self.conversation.agent.inner.clone();
        let meaning = agent.modes.of(self.state.mode);
        let Self { state, partial, used, stop, end, parent, fitting, .. } = self;
        let tools = match &agent.shortlist {
            None => meaning.sent(),
            Some(shortlist) => {
                fitting.take_if(|fitting| fitting.mode != state.mode);
                fitting.get_or_insert_with(|| Fitting::new(shortlist, state.mode, meaning)).to(&state.history)
            }
        };
        let request = Request { system: meaning.system(), messages: &state.history, tools, options: &agent.options };
        let mut answering = started(|| agent.model.answer(request)).map_err(Ending::Failed)?;
        let ended = loop {
            // A model is foreign code: if it panics, it has failed.
            let part = AssertUnwindSafe(answering.next()).catch_unwind();
            let part = match stop.unless(part).await {
                Err(why) => return Err(why.into()),
                Ok(Err(_)) => return Err(Ending::Failed(panicked())),
                Ok(Ok(None)) => return Err(Ending::Failed(ModelError::cut())),
                Ok(Ok(Some(Err(error)))) => return Err(Ending::Failed(error)),
                Ok(Ok(Some(Ok(part)))) => part,
            };
            match part {
                Part::Text(text) => {
                    end.watchers.tell(|| Event::Text { text: text.clone() });
                    append(&mut partial.text, text);
                }
                Part::Thinking(text) => {
                    end.watchers.tell(|| Event::Thinking { text: text.clone() });
                    append(&mut partial.thinking, text);
                }
                Part::Call(call) => partial.calls.push(call),
                Part::Usage(usage) => *used = usage,
                Part::Retrying { why, after } => {
                    parent.budget.add_unfinished(std::mem::take(used), &state.history, partial);
                    partial.thinking.clear();
                    end.watchers.tell(|| Event::Retrying { why, after });
                }
                Part::End(ended) => break ended,
            }
        };
        drop(answering);
        *used = Usage::default();
        let usage = parent.budget.add_usage(ended.usage, &state.history, partial);
        agent.model.name().clone_into(&mut partial.model);
        partial.opaque = ended.opaque;
        agent.identities.give(&mut partial.calls);
        if !partial.calls.is_empty() {
            partial.set_journal(&agent.tools);
        }
        self.stopped_by = ended.stop;
        self.take_answer();
        Ok(usage)
    }

    /// The tools that the model's calls go through.
    pub(super) fn tools(&self) -> Dispatcher {
        self.conversation.agent.inner.modes.of(self.state.mode).tools.clone()
    }
}

/// Most answers come in one piece or begin with one: that is moved, not copied.
fn append(text: &mut String, more: String) {
    match text.is_empty() {
        true => *text = more,
        false => text.push_str(&more),
    }
}

fn started<'a>(answer: impl FnOnce() -> Answering<'a>) -> Result<Answering<'a>, ModelError> {
    std::panic::catch_unwind(AssertUnwindSafe(answer)).map_err(|_| panicked())
}

fn panicked() -> ModelError {
    ModelError::new(ModelErrorKind::Unreadable, "the model's own code panicked")
}
