//! Messages of a conversation.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_runtime::dialect::RequestedCall;
use tool_runtime::journal::Journal;
use tool_runtime::{Dispatcher, ToolResult};

/// A message of a conversation, independent of any provider.
///
/// Tools have their own names here, not a provider's encoding of them. Each call of an [`AssistantMessage`] has one
/// result in the [`Message::Tools`] that follows, in the order of the calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// A message of the user.
    User {
        /// The text.
        text: String,
    },
    /// A response of the model.
    Assistant(AssistantMessage),
    /// The results of the model's calls.
    Tools {
        /// One result for each call of the preceding message, in the same order.
        results: Vec<CallResult>,
    },
}

impl Message {
    /// Creates a message of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// Creates a response without calls, for tests.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage::new(text, []))
    }
}

/// A response of the model, with everything that its provider needs in the next request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The text. Empty if the model only calls tools.
    pub text: String,
    /// The reasoning, if the provider exposes it. It is shown to users and not sent back.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// The requested calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// The [name](crate::Model::name) of the model that responded. `opaque` is sent to this model only.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Data that the provider expects in the next request, such as signed reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// The [identity](tool_runtime::journal::Journal::identity) of the journal that records its calls. After a crash,
    /// no other journal can prove that a call did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The [opening](tool_runtime::journal::Journal::opening) of that journal under which its calls are made. While
    /// another process holds that opening, a call without a record may still start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<u64>,
    /// Set if the response was cut off. [`resume`](crate::Conversation::resume) replaces it with a new response.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl AssistantMessage {
    /// Creates a response with this text and these calls, for tests.
    pub fn new(text: impl Into<String>, calls: impl IntoIterator<Item = ModelCall>) -> Self {
        Self { text: text.into(), calls: calls.into_iter().collect(), ..Self::default() }
    }

    /// Records the journal that its calls will be in. Returns `true` if that changed.
    pub(crate) fn set_journal(&mut self, tools: &Dispatcher) -> bool {
        let journal = tools.journal();
        let (journal, opening) = (journal.and_then(Journal::identity), journal.and_then(Journal::opening));
        let is_another = (self.journal.as_deref(), self.opening) != (journal, opening);
        (self.journal, self.opening) = (journal.map(str::to_owned), opening);
        is_another
    }
}

/// A call that a model requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelCall {
    /// The id of the call. A model sets the provider's id or none; in a history it is a unique id that the agent
    /// assigned.
    pub id: String,
    /// The tool's own name.
    pub name: String,
    /// The arguments as the model wrote them. They may not be valid JSON.
    pub arguments: String,
    /// Data that the provider attached to this call, such as a signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// The reason why the provider's message is not a complete call, such as a stream that ended before the arguments
    /// did. Such a call does not run, and its result gives the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

impl ModelCall {
    /// Creates a call of a tool.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), opaque: None, malformed: None }
    }
}

impl From<RequestedCall> for ModelCall {
    fn from(call: RequestedCall) -> Self {
        Self::new(call.id, call.name, call.arguments)
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallResult {
    /// The call's id.
    pub id: String,
    /// The tool's own name.
    pub name: String,
    /// The result. The model reads its `output`.
    pub result: ToolResult,
}
