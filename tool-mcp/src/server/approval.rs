//! Asks the client's user for approval of a call.

use std::pin::Pin;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::Value;
use tool_runtime::confirm::{Confirm, Decision, Deferred, Question};

use super::client::McpClient;

const DECLINED: &str = "the user declined";
const NO_RESPONSE: &str = "the user did not respond";
const ASKING_FAILED: &str = "it needs the user's approval, and asking for it failed";

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
            Err(error) => {
                tracing::warn!(%error, "cannot ask the client's user for approval");
                Decision::refuse(ASKING_FAILED)
            }
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

/// The length in characters after which a description is cut.
const MAX_DESCRIPTION: usize = 300;

/// Renders the question: the tool and its description, the arguments without secrets, and the preview.
fn shown(question: &Question) -> String {
    let mut text = format!("Allow `{}` to run?", question.tool);
    if question.definition.destructive {
        text.push_str(" It is marked as destructive.");
    }
    let description = question.definition.description.trim();
    if !description.is_empty() {
        text.push_str("\n\n");
        text.extend(description.chars().take(MAX_DESCRIPTION));
        if description.chars().nth(MAX_DESCRIPTION).is_some() {
            text.push('…');
        }
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tool_runtime::ToolDefinition;

    use super::*;

    #[test]
    fn shows_what_the_tool_does() {
        let definition = |description: &str, destructive| {
            let definition =
                json!({"description": description, "handler": "a::b", "arguments": {}, "destructive": destructive});
            Arc::new(serde_json::from_value::<ToolDefinition>(definition).unwrap())
        };
        let question = |definition| Question::new("shop.close", definition, json!({}));
        assert_eq!(
            shown(&question(definition("Close a shop.", true))),
            "Allow `shop.close` to run? It is marked as destructive.\n\nClose a shop."
        );
        assert_eq!(shown(&question(definition("", false))), "Allow `shop.close` to run?");
        let long = shown(&question(definition(&"ä".repeat(301), false)));
        assert!(long.contains(&format!("{}…", "ä".repeat(300))), "{long}");
    }
}
