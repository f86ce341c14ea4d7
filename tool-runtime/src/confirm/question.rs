//! Questions about calls, and the decisions on them.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_model::ToolDefinition;

use crate::arguments::redact;
use crate::call_stage::CallStage;
use crate::{ErrorKind, ToolError, ToolResult};

/// A call that needs approval. The data is owned, so that a question can be stored, sent and shown later.
///
/// [`arguments`](Self::arguments) holds the arguments that will run, including secrets. Display
/// [`shown`](Self::shown) to users, and let them edit [`to_edit`](Self::to_edit). A preview is displayed as the tool
/// wrote it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The tool's name, as offered to the model.
    pub tool: String,
    /// The name under which the tool is registered. A [selection](crate::Selection) may offer it under another.
    pub registered: String,
    /// The tool's definition at the time of the call.
    pub definition: Arc<ToolDefinition>,
    /// The arguments that will run: validated, repaired if necessary, and with their secrets.
    pub arguments: Value,
    /// The names of the arguments that were filled in from their defaults.
    pub defaults: Vec<String>,
    /// The call's ID from the model provider.
    pub call_id: Option<String>,
    /// The conversation that the call belongs to.
    pub conversation: Option<String>,
    /// The channel through which the conversation is held.
    pub channel: Option<String>,
    /// The chat in that channel.
    pub chat: Option<String>,
    /// The repairs of the arguments.
    pub repairs: Vec<Value>,
    /// The tool's preview of the call, if it has one: usually an [`Effect`](crate::Effect) as JSON.
    pub preview: Option<Value>,
    /// The [`fingerprint`] of the definition.
    pub fingerprint: String,
    /// Tracks whether the handler of a resumed call has started.
    #[serde(skip)]
    pub(crate) stage: Option<CallStage>,
}

impl Question {
    /// Creates a question about a call of a tool with these arguments.
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

    /// Returns the arguments for display, with `"***"` in place of each secret; see [`redact`](crate::arguments::redact()).
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

    /// Returns the result of the call if it is refused. The model receives the reason, if there is one.
    /// [`Dispatcher::refuse`](crate::Dispatcher::refuse) records it, too, for which it has to wait.
    #[must_use]
    pub fn refused(&self, reason: Option<&str>) -> ToolResult {
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let message = format!("`{}` was refused{reason}.", self.tool);
        ToolResult::failure(ToolError::new(ErrorKind::Refused, message))
    }

    /// Returns `true` if `definition` is the one that the question was asked about. Otherwise the approval does not apply.
    ///
    /// Definitions are compared in their JSON form, since a question may have been stored in between.
    #[must_use]
    pub fn is_about(&self, definition: &ToolDefinition) -> bool {
        text(&self.definition) == text(definition)
    }
}

/// Redacts secrets, since questions may be logged.
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

/// Returns a short hash of a tool's definition that is the same in every process and on every machine.
///
/// It identifies a version of a definition in logs and records. It is not a cryptographic hash, and nothing relies on it
/// for security: tokens are bound to the definition itself, and [`Question::is_about`] compares definitions.
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

/// FNV-1a with 128 bits. Five lines that must never change are not worth a dependency.
fn fnv(text: &str) -> u128 {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.bytes().fold(START, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

/// Returns the definition in its JSON form, which is sorted.
fn text(definition: &ToolDefinition) -> String {
    tool_model::to_pretty(definition)
}

/// A user's decision on a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// Run the call with the arguments in the question.
    Run,
    /// Refuse the call. The model receives the reason, if there is one.
    Refuse(Option<String>),
    /// Refuse the call and abort the turn.
    Abort,
    /// Run the call with these arguments, which are validated like any others.
    Edit(Value),
    /// Wait: the user will answer later, with this token.
    Pending(PendingApproval),
}

impl Decision {
    /// Creates a refusal with a reason for the model.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self::Refuse(Some(reason.into()))
    }
}

/// The token of a pending call. `Debug` output hides it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingApproval {
    /// Authorizes the call to run. Give it to the user who decides, never to the model.
    pub token: String,
    /// The time at which the token expires.
    pub expires: SystemTime,
}

impl PendingApproval {
    /// Creates a pending approval with a token and its expiry.
    pub fn new(token: impl Into<String>, expires: SystemTime) -> Self {
        Self { token: token.into(), expires }
    }
}

impl fmt::Debug for PendingApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingApproval").field("token", &format_args!("***")).field("expires", &self.expires).finish()
    }
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
    fn fingerprints_are_stable() {
        assert_eq!(fnv("a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(fnv("foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
        assert_eq!(fingerprint(&definition("a")), fingerprint(&definition("a")));
        assert_ne!(fingerprint(&definition("a")), fingerprint(&definition("b")));
    }

    #[test]
    fn hides_secrets_from_users_and_logs() {
        let secret = json!({"password": {"type": "string", "required": true, "writeOnly": true}});
        let definition = json!({"description": "", "handler": "app::login", "arguments": secret});
        let definition = Arc::new(serde_json::from_value(definition).unwrap());
        let question = Question::new("login", definition, json!({"password": "hunter2"}));
        assert_eq!(question.shown(), json!({"password": "***"}));
        assert!(!format!("{question:?}").contains("hunter2"), "{question:?}");
    }

    #[test]
    fn round_trips_through_json() {
        let mut question = Question::new("purge", Arc::new(definition("Purge.")), json!({"host": "web-1"}));
        question.preview = Some(json!({"statement": "delete from points"}));
        let text = serde_json::to_string(&question).unwrap();
        let back: Question = serde_json::from_str(&text).unwrap();
        assert_eq!(back, question);
        assert!(back.is_about(&definition("Purge.")));
        assert!(!back.is_about(&definition("Purge everything.")));
    }

    #[test]
    fn debug_output_hides_the_token() {
        let pending = Decision::Pending(PendingApproval::new("a token", SystemTime::UNIX_EPOCH));
        assert!(!format!("{pending:?}").contains("a token"), "{pending:?}");
    }
}
