//! Asking the person behind the client whether a call may run.

use std::pin::Pin;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::Value;
use tool_runtime::confirm::{Confirm, Decision, Deferred, Question};

use super::client::Client;

const DECLINED: &str = "the user declined";
const NO_ANSWER: &str = "the user did not answer";

/// Asks the user of a call's client.
pub(super) struct AskClient {
    pub(super) client: Client,
    /// Where the call waits until the client calls again; nothing for one that answers at once.
    pub(super) deferred: Option<Deferred>,
}

impl Confirm for AskClient {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(async move {
            if !self.client.can_confirm() {
                return Decision::refuse(
                    "it needs the user's consent, and this client cannot ask for it (elicitation)",
                );
            }
            let shown = shown(question);
            match &self.deferred {
                Some(deferred) => {
                    self.client.asked().consent = Some(shown);
                    deferred.confirm(question).await
                }
                None => self.ask(&shown).await,
            }
        })
    }
}

impl AskClient {
    async fn ask(&self, shown: &str) -> Decision {
        match self.client.context().peer.create_elicitation(form(shown)).await {
            Ok(answer) => match said(&answer) {
                Ok(()) => Decision::Run,
                Err(reason) => Decision::refuse(reason),
            },
            Err(error) => Decision::refuse(format!("it needs the user's consent, and asking for it failed: {error}")),
        }
    }
}

/// Whether the user agrees, or else why the call does not run.
pub(super) fn said(answer: &ElicitResult) -> Result<(), &'static str> {
    match answer.action {
        ElicitationAction::Accept => Ok(()),
        ElicitationAction::Decline => Err(DECLINED),
        _ => Err(NO_ANSWER),
    }
}

/// A form without fields: to accept it is to agree.
pub(super) fn form(message: &str) -> ElicitRequestParams {
    let requested_schema = ElicitationSchema::new(Default::default());
    ElicitRequestParams::FormElicitationParams { meta: None, message: message.to_owned(), requested_schema }
}

/// What the user is shown: the tool, the arguments without secrets, what the call would do.
fn shown(question: &Question) -> String {
    let mut text = format!("Allow `{}` to run?", question.tool);
    let arguments = question.shown();
    if arguments.as_object().is_none_or(|arguments| !arguments.is_empty()) {
        text.push_str(&format!("\n\nArguments:\n{arguments:#}"));
    }
    match &question.preview {
        None => {}
        Some(Value::String(preview)) => text.push_str(&format!("\n\nWhat it does:\n{preview}")),
        Some(preview) => text.push_str(&format!("\n\nWhat it does:\n{preview:#}")),
    }
    text
}
