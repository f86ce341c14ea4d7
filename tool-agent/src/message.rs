//! What is said in a conversation.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_runtime::dialect::Requested;
use tool_runtime::journal::Journal;
use tool_runtime::{Dispatcher, ToolResult};

/// One message of a conversation, without any provider's form.
///
/// Tools go by their own names here, whatever a provider makes of them. Each call of an [`Assistant`] has one result in
/// the [`Message::Tools`] behind it, in the order of the calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// What a person says.
    User {
        /// In their words.
        text: String,
    },
    /// What the model answers.
    Assistant(Assistant),
    /// What came of the model's calls.
    Tools {
        /// One for each call of the message before, in their order.
        results: Vec<CallResult>,
    },
}

impl Message {
    /// A message of a person.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// An answer in text, to be written by hand in tests.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(Assistant::new(text, []))
    }
}

/// What the model has answered, with everything that its provider wants to see again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Assistant {
    /// What it says. Empty where it only calls tools.
    pub text: String,
    /// What it thought before, where the provider shows it. For people; it is not sent back.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// The calls that it asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// The [name](crate::Model::name) of the model that has answered. What is opaque below is for this one only.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// What the provider gave along for the next request, such as signed reasoning. Only the model that wrote it knows
    /// what it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// The [identity](tool_runtime::journal::Journal::identity) of the record that its calls are in, if there is one:
    /// after a crash no other can say that a call did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The [opening](tool_runtime::journal::Journal::opening) of that record by which its calls are made, if it has a
    /// number: as long as somebody else has it, a call that is not on record may still begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<u64>,
    /// Whether it broke off before its end. What is here was said, but is not the answer: to
    /// [resume](crate::Conversation::resume) is to ask for it anew.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl Assistant {
    /// An answer of these words and calls, to be written by hand in tests.
    pub fn new(text: impl Into<String>, calls: impl IntoIterator<Item = ModelCall>) -> Self {
        Self { text: text.into(), calls: calls.into_iter().collect(), ..Self::default() }
    }

    /// Says in which record its calls will be. Whether it was another.
    pub(crate) fn set_journal(&mut self, tools: &Dispatcher) -> bool {
        let journal = tools.journal();
        let (journal, opening) = (journal.and_then(Journal::identity), journal.and_then(Journal::opening));
        let is_another = (self.journal.as_deref(), self.opening) != (journal, opening);
        (self.journal, self.opening) = (journal.map(str::to_owned), opening);
        is_another
    }
}

/// A call that a model asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelCall {
    /// The call's id. A model gives that of its provider, or none; in a history it is one of the loop's own, which no
    /// other call has.
    pub id: String,
    /// The tool's own name.
    pub name: String,
    /// The arguments as the model wrote them, which may be no JSON at all.
    pub arguments: String,
    /// What the provider gave along with this call, such as a signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// The reason why the provider's message is not a complete call, such as a stream that ended before the arguments
    /// did. Such a call does not run, and its result gives the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

impl ModelCall {
    /// A call of a tool with these arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), opaque: None, malformed: None }
    }
}

impl From<Requested> for ModelCall {
    fn from(call: Requested) -> Self {
        Self::new(call.id, call.name, call.arguments)
    }
}

/// What came of a call.
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
