//! Calls that somebody has decided on since they were asked about.

use std::borrow::Cow;

use serde_json::Value;

use crate::confirm::Question;
use crate::dispatch::{Call, Dispatcher};
use crate::journal::{JournalDecision, StartedCall};
use crate::{ErrorKind, ToolCall, ToolError, ToolResult};

impl Dispatcher {
    /// Runs a call that waited for consent, now that somebody has given it: see
    /// [`Decision::Pending`](crate::confirm::Decision::Pending). Values that came with the call come again, with
    /// [`Call::with`]. If the tool has changed since, the call is refused.
    ///
    /// The tool goes by the name by which it was asked about: a call that came through a
    /// [selection](Self::select) is approved through one that calls the tool the same.
    pub fn approve(&self, question: Question) -> Call<'_> {
        let arguments = question.arguments.clone();
        self.approve_with(question, arguments)
    }

    /// As [`approve`](Self::approve), with the arguments that the person has put in the place of the model's; a text
    /// that they have edited is read with [`Question::edited`]. They are checked as a model's are, but not mended: what
    /// a person has agreed to is what they wrote.
    pub fn approve_with(&self, question: Question, arguments: Value) -> Call<'_> {
        let call = call_of(&question, arguments);
        if let Some(stage) = &question.stage {
            stage.claim();
        }
        self.call(call).approved(Box::new(question))
    }

    /// The answer to a call that waited for consent, now that somebody has refused it. It is recorded, and the model is
    /// told the reason, if there is one. The answer alone is [`Question::refused`].
    pub async fn refuse(&self, question: &Question, reason: Option<&str>) -> ToolResult {
        self.note(question, JournalDecision::Refused).await;
        question.refused(reason)
    }

    /// The answer to a call that waited for consent, now that somebody wants neither it nor any other: whoever called
    /// is to stop. It is recorded. What else waits, the application refuses.
    pub async fn abort(&self, question: &Question) -> ToolResult {
        self.note(question, JournalDecision::Aborted).await;
        let message = format!("`{}` was refused, and everything else with it: stop here.", question.tool);
        ToolResult::failure(ToolError::new(ErrorKind::Aborted, message))
    }

    /// Records a decision after which nothing runs.
    async fn note(&self, question: &Question, decision: JournalDecision) {
        let Some(journal) = &self.inner.rules.journal else { return };
        let mut call = call_of(question, question.arguments.clone());
        // As every call is recorded, whatever a selection calls its tool.
        call.name = Cow::Owned(question.registered.clone());
        let started = StartedCall::new(&call, &question.definition, &question.arguments);
        let started = started.without_defaults(&question.defaults);
        if let Err(error) = journal.note(&started, &decision).await {
            // It does not run either way.
            tracing::error!(tool = question.tool, decision = decision.as_str(), %error, "a decision could not be recorded");
        }
    }
}

/// The call that was asked about, with these arguments.
fn call_of(question: &Question, arguments: Value) -> ToolCall<'static> {
    let owned = |text: &Option<String>| text.clone().map(Cow::Owned);
    let mut call = ToolCall::new(question.tool.clone(), arguments);
    call.id = owned(&question.call_id);
    call.conversation = owned(&question.conversation);
    call.channel = owned(&question.channel).zip(owned(&question.chat));
    call
}
