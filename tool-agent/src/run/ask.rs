//! One response of the model.

use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt, StreamExt};
use tool_runtime::Dispatcher;

use super::live_run::LiveRun;
use crate::shortlist::ShortlistedTools;
use crate::{AgentEvent, ModelError, ModelErrorKind, ModelRequest, ResponsePart, ResponseStream, RunEnding, Usage};

impl LiveRun {
    /// Requests a response and adds it to the history. Returns the tokens used.
    pub(super) async fn ask(&mut self) -> Result<Usage, RunEnding> {
        if let Some(why) = self.stop.now() {
            return Err(why.into());
        }
        self.state.take_mode(&self.conversation.shared);
        self.parent.budget.take_turn().map_err(RunEnding::Limit)?;
        self.turn += 1;
        self.parent.set_mode(self.state.mode);
        self.said = None;
        let agent = self.conversation.agent.inner.clone();
        let meaning = agent.modes.get(self.state.mode);
        let Self { state, partial, used, stop, end, parent, fitting, .. } = self;
        let tools = match &agent.shortlist {
            None => meaning.sent(),
            Some(shortlist) => {
                fitting.take_if(|fitting| fitting.mode != state.mode);
                fitting.get_or_insert_with(|| ShortlistedTools::new(shortlist, state.mode, meaning)).to(&state.history)
            }
        };
        let request =
            ModelRequest { system: meaning.system(), messages: &state.history, tools, options: &agent.options };
        let mut answering = started(|| agent.model.respond(request)).map_err(RunEnding::Failed)?;
        let ended = loop {
            // A model is foreign code: a panic counts as a failure.
            let part = AssertUnwindSafe(answering.next()).catch_unwind();
            let part = match stop.unless(part).await {
                Err(why) => return Err(why.into()),
                Ok(Err(_)) => return Err(RunEnding::Failed(panicked())),
                Ok(Ok(None)) => return Err(RunEnding::Failed(ModelError::cut())),
                Ok(Ok(Some(Err(error)))) => return Err(RunEnding::Failed(error)),
                Ok(Ok(Some(Ok(part)))) => part,
            };
            match part {
                ResponsePart::Text(text) => {
                    end.watchers.tell(|| AgentEvent::Text { text: text.clone() });
                    append(&mut partial.text, text);
                }
                ResponsePart::Thinking(text) => {
                    end.watchers.tell(|| AgentEvent::Thinking { text: text.clone() });
                    append(&mut partial.thinking, text);
                }
                ResponsePart::Call(call) => partial.calls.push(call),
                ResponsePart::Usage(usage) => *used = usage,
                ResponsePart::Retrying { why, after } => {
                    parent.budget.add_unfinished(std::mem::take(used), &state.history, partial);
                    partial.thinking.clear();
                    end.watchers.tell(|| AgentEvent::Retrying { why, after });
                }
                ResponsePart::End(ended) => break ended,
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

    /// Returns the dispatcher for the model's calls.
    pub(super) fn tools(&self) -> Dispatcher {
        self.conversation.agent.inner.modes.get(self.state.mode).tools.clone()
    }
}

/// Appends text. Moves the first piece, which is often the only one.
fn append(text: &mut String, more: String) {
    match text.is_empty() {
        true => *text = more,
        false => text.push_str(&more),
    }
}

fn started<'a>(answer: impl FnOnce() -> ResponseStream<'a>) -> Result<ResponseStream<'a>, ModelError> {
    std::panic::catch_unwind(AssertUnwindSafe(answer)).map_err(|_| panicked())
}

fn panicked() -> ModelError {
    ModelError::new(ModelErrorKind::Unreadable, "the model implementation panicked")
}
