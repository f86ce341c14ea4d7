//! Asks the client's user for approval of a call.

use std::pin::Pin;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::Value;
use tool_runtime::confirm::{Confirm, Decision, Deferred, Question};

use super::client::McpClient;

const DECLINED: &str = "the user declined";
const NO_RESPONSE: &str = "the user did not respond";

/// Asks the user of the client that made the call.
pub(super) struct AskClient {
    pub(super) client: McpClient,
    /// Holds the call until the client calls again; `None` for a client that responds at once.
    pub(super) deferred: Option<Deferred>,
}

impl Confirm for AskClient {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(async move {
            if !self.client.can_confirm() {
                return Decision::refuse("it needs the user's approval, and this client does not support elicitation");
            }
            let shown = shown(question);
            match &self.deferred {
                Some(deferred) => {
                    self.client.requested().approval = Some(shown);
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
            Ok(response) => match approval(&response) {
                Ok(()) => Decision::Run,
                Err(reason) => Decision::refuse(reason),
            },
            Err(error) => Decision::refuse(format!("it needs the user's approval, and asking for it failed: {error}")),
        }
    }
}

/// Returns `Ok` if the user approved the call, or else the reason for the refusal.
pub(super) fn approval(response: &ElicitResult) -> Result<(), &'static str> {
    match response.action {
        ElicitationAction::Accept => Ok(()),
        ElicitationAction::Decline => Err(DECLINED),
        _ => Err(NO_RESPONSE),
    }
}

/// Returns a form without fields: accepting it approves the call.
pub(super) fn form(message: &str) -> ElicitRequestParams {
    let requested_schema = ElicitationSchema::new(Default::default());
    ElicitRequestParams::FormElicitationParams { meta: None, message: message.to_owned(), requested_schema }
}

/// Renders the question: the tool, the arguments without secrets, and the preview.
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
