//! What a person is asked.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_model::ToolDefinition;

use crate::arguments::redact;
use crate::call_stage::CallStage;
use crate::{ErrorKind, ToolError, ToolResult};

/// A call that needs consent, with all there is to know about it. Owned, so that it can be kept, sent and shown later.
///
/// Its [`arguments`](Self::arguments) are those that run, secrets included: what a person is shown is
/// [`shown`](Self::shown), and what they edit is [`to_edit`](Self::to_edit). A preview says what its tool says.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The tool's name, as the model knows it.
    pub tool: String,
    /// The name by which the tool was registered. A [selection](crate::Selection) may have given it another.
    pub registered: String,
    /// The tool as it was offered when the call came.
    pub definition: Arc<ToolDefinition>,
    /// The arguments as they will run: checked, mended where that was needed, and with their secrets.
    pub arguments: Value,
    /// The names of arguments that were not sent, and stand in `arguments` with their defaults.
    pub defaults: Vec<String>,
    /// The id that the provider gave the call.
    pub call_id: Option<String>,
    /// The conversation that the call belongs to.
    pub conversation: Option<String>,
    /// The channel through which the conversation is held.
    pub channel: Option<String>,
    /// The chat in that channel.
    pub chat: Option<String>,
    /// What was mended in the arguments.
    pub repairs: Vec<Value>,
    /// What the call would do, if the tool can tell: an [`Effect`](crate::Effect) as JSON, or anything else.
    pub preview: Option<Value>,
    /// The [`fingerprint`] of the definition.
    pub fingerprint: String,
    /// Tells whoever has redeemed the approval how far the call has come.
    #[serde(skip)]
    pub(crate) stage: Option<CallStage>,
}

impl Question {
    /// A question about a call of this tool with these arguments.
    pub fn new(tool: impl Into<String>, definition: Arc<ToolDefinition>, arguments: Value) -> Self {
        let (tool, fingerprint) = (tool.into(), fingerprint(&definition));
        Self {
            registered: tool.clone(),
            tool,
            definition,
            arguments,
            defaults: Vec::new(),
            call_id: None,
            conversation: None,
            channel: None,
            chat: None,
            repairs: Vec::new(),
            preview: None,
            fingerprint,
            stage: None,
        }
    }

    /// The arguments as they can be shown, with `"***"` in place of each secret; see [`redact`](crate::arguments::redact()).
    #[must_use]
    pub fn shown(&self) -> Value {
        redact(&self.arguments, &self.definition)
    }

    /// Returns `true` once the handler was started for this question, or for a clone of it, by the
    /// [`resume`](crate::confirm::Deferred::resume) that handed it out. Then the approval is spent.
    #[cfg(feature = "deferred")]
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.stage.as_ref().is_some_and(CallStage::has_started)
    }

    /// The answer to the call, if it is refused; the model is told the reason, if there is one.
    /// [`Dispatcher::refuse`](crate::Dispatcher::refuse) records it, too, for which it has to wait.
    #[must_use]
    pub fn refused(&self, reason: Option<&str>) -> ToolResult {
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let message = format!("`{}` was refused{reason}.", self.tool);
        ToolResult::failure(ToolError::new(ErrorKind::Refused, message))
    }

    /// Whether this is how the tool looked when the question was asked. If not, consent was given to something else.
    ///
    /// The definitions themselves are compared, in their JSON form: a question may come back from a journal.
    #[must_use]
    pub fn is_about(&self, definition: &ToolDefinition) -> bool {
        text(&self.definition) == text(definition)
    }
}

/// Without secrets: a question ends up in logs.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("tool", &self.tool)
            .field("arguments", &format_args!("{}", self.shown()))
            .field("call_id", &self.call_id)
            .field("conversation", &self.conversation)
            .field("channel", &self.channel)
            .field("chat", &self.chat)
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}

/// A short text that tells one version of a tool's definition from another, the same in every run and on every machine.
///
/// It is for logs and records. It is no cryptographic hash, and nothing secure rests on it: a token is bound to the
/// definition itself, and [`Question::is_about`] compares definitions.
///
/// ```
/// use tool_runtime::{ToolDefinition, confirm::fingerprint};
///
/// let mut definition = ToolDefinition::default();
/// let before = fingerprint(&definition);
/// definition.sensitive = true;
/// assert_ne!(fingerprint(&definition), before);
/// ```
#[must_use]
pub fn fingerprint(definition: &ToolDefinition) -> String {
    format!("{:032x}", fnv(&text(definition)))
}

/// FNV-1a of 128 bits: stable, and not worth a dependency.
fn fnv(text: &str) -> u128 {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.bytes().fold(START, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

/// The definition's own form is sorted already.
fn text(definition: &ToolDefinition) -> String {
    tool_model::to_pretty(definition)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(description: &str) -> ToolDefinition {
        let json = json!({"description": description, "handler": "app::purge", "arguments": {}, "timeout_ms": 5000});
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_fingerprint_is_the_same_everywhere() {
        assert_eq!(fnv("a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(fnv("foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
        assert_eq!(fingerprint(&definition("a")), fingerprint(&definition("a")));
        assert_ne!(fingerprint(&definition("a")), fingerprint(&definition("b")));
    }

    #[test]
    fn a_secret_is_neither_shown_nor_logged() {
        let secret = json!({"password": {"type": "string", "required": true, "writeOnly": true}});
        let definition = json!({"description": "", "handler": "app::login", "arguments": secret});
        let definition = Arc::new(serde_json::from_value(definition).unwrap());
        let question = Question::new("login", definition, json!({"password": "hunter2"}));
        assert_eq!(question.shown(), json!({"password": "***"}));
        assert!(!format!("{question:?}").contains("hunter2"), "{question:?}");
    }

    #[test]
    fn a_question_survives_a_journal() {
        let mut question = Question::new("purge", Arc::new(definition("Purge.")), json!({"host": "web-1"}));
        question.preview = Some(json!({"statement": "delete from points"}));
        let text = serde_json::to_string(&question).unwrap();
        let back: Question = serde_json::from_str(&text).unwrap();
        assert_eq!(back, question);
        assert!(back.is_about(&definition("Purge.")));
        assert!(!back.is_about(&definition("Purge everything.")));
    }
}
