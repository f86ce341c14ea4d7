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
        if let Some(why) = self.stop.check() {
            return Err(why.into());
        }
        self.state.apply_new_mode(&self.conversation.shared);
        self.parent.budget.take_turn().map_err(RunEnding::Limit)?;
        self.turn += 1;
        self.parent.set_mode(self.state.mode);
        self.last_response = None;
        let agent = self.conversation.agent.inner.clone();
        let mode = agent.modes.get(self.state.mode);
        let Self { state, partial, used, stop, guard, parent, shortlisted, .. } = self;
        let tools = match &agent.shortlist {
            None => mode.sent_tools(),
            Some(shortlist) => {
                shortlisted.take_if(|shortlisted| shortlisted.mode != state.mode);
                shortlisted
                    .get_or_insert_with(|| ShortlistedTools::new(shortlist, state.mode, mode))
                    .select(&state.history)
            }
        };
        let request = ModelRequest { system: mode.system(), messages: &state.history, tools, options: &agent.options };
        let mut response = start_response(|| agent.model.respond(request)).map_err(RunEnding::Failed)?;
        let end = loop {
            // A model is foreign code: a panic counts as a failure.
            let part = AssertUnwindSafe(response.next()).catch_unwind();
            let part = match stop.run_unless_stopped(part).await {
                Err(why) => return Err(why.into()),
                Ok(Err(_)) => return Err(RunEnding::Failed(panicked())),
                Ok(Ok(None)) => return Err(RunEnding::Failed(ModelError::cut())),
                Ok(Ok(Some(Err(error)))) => return Err(RunEnding::Failed(error)),
                Ok(Ok(Some(Ok(part)))) => part,
            };
            match part {
                ResponsePart::Text(text) => {
                    guard.events.send(|| AgentEvent::Text { text: text.clone() });
                    append(&mut partial.text, text);
                }
                ResponsePart::Thinking(text) => {
                    guard.events.send(|| AgentEvent::Thinking { text: text.clone() });
                    append(&mut partial.thinking, text);
                }
                ResponsePart::Call(call) => partial.calls.push(call),
                ResponsePart::Usage(usage) => *used = usage,
                ResponsePart::Retrying { why, after } => {
                    parent.budget.add_unfinished(std::mem::take(used), &state.history, partial);
                    partial.thinking.clear();
                    guard.events.send(|| AgentEvent::Retrying { why, after });
                }
                ResponsePart::End(end) => break end,
            }
        };
        drop(response);
        *used = Usage::default();
        let usage = parent.budget.add_usage(end.usage, &state.history, partial);
        agent.model.name().clone_into(&mut partial.model);
        partial.opaque = end.opaque;
        agent.call_ids.assign(&mut partial.calls);
        if !partial.calls.is_empty() {
            partial.set_journal(&agent.tools);
        }
        self.stop_reason = end.stop;
        self.add_response();
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

fn start_response<'a>(answer: impl FnOnce() -> ResponseStream<'a>) -> Result<ResponseStream<'a>, ModelError> {
    std::panic::catch_unwind(AssertUnwindSafe(answer)).map_err(|_| panicked())
}

fn panicked() -> ModelError {
    ModelError::new(ModelErrorKind::Unreadable, "the model implementation panicked")
}
