//! The request of a call.

use std::borrow::Cow;

use serde_json::Value;

use crate::Context;

/// A call as the model made it: the name of a tool and the text of its arguments.
///
/// ```
/// use serde_json::json;
/// use tool_runtime::ToolCall;
///
/// let from_model = ToolCall::from_text("metrics.newest", r#"{"host": "web-1"}"#).id("call_1");
/// let from_code = ToolCall::new("metrics.newest", json!({"host": "web-1"})).id("call_1");
/// assert_eq!(from_code.name(), from_model.name());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) arguments: Cow<'a, str>,
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) conversation: Option<Cow<'a, str>>,
    pub(crate) channel: Option<(Cow<'a, str>, Cow<'a, str>)>,
    pub(crate) trace_parent: Option<Cow<'a, str>>,
}

impl<'a> ToolCall<'a> {
    /// Creates a call with the arguments as the model wrote them. Empty text stands for no arguments.
    pub fn from_text(name: impl Into<Cow<'a, str>>, arguments: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: name.into(),
            arguments: arguments.into(),
            id: None,
            conversation: None,
            channel: None,
            trace_parent: None,
        }
    }

    /// Creates a call with the arguments as a JSON value.
    pub fn new(name: impl Into<Cow<'a, str>>, arguments: Value) -> Self {
        Self::from_text(name, arguments.to_string())
    }

    /// Sets the id that the model provider gave the call.
    #[must_use]
    pub fn id(mut self, id: impl Into<Cow<'a, str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the conversation that the call belongs to.
    #[must_use]
    pub fn conversation(mut self, conversation: impl Into<Cow<'a, str>>) -> Self {
        self.conversation = Some(conversation.into());
        self
    }

    /// Sets the channel of the conversation and the chat in it, for handlers that read their [`Context`].
    #[must_use]
    pub fn channel(mut self, channel: impl Into<Cow<'a, str>>, chat: impl Into<Cow<'a, str>>) -> Self {
        self.channel = Some((channel.into(), chat.into()));
        self
    }

    /// Sets the trace that the call belongs to, in the format of W3C's `traceparent`.
    #[must_use]
    pub fn trace_parent(mut self, trace_parent: impl Into<Cow<'a, str>>) -> Self {
        self.trace_parent = Some(trace_parent.into());
        self
    }

    pub(crate) fn into_owned(self) -> ToolCall<'static> {
        fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        ToolCall {
            name: owned(self.name),
            arguments: owned(self.arguments),
            id: self.id.map(owned),
            conversation: self.conversation.map(owned),
            channel: self.channel.map(|(channel, chat)| (owned(channel), owned(chat))),
            trace_parent: self.trace_parent.map(owned),
        }
    }

    pub(crate) fn context(&self) -> Context {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let (channel, chat) = self.channel.clone().unzip();
        Context {
            tool: self.name.clone().into_owned(),
            called: None,
            call_id: owned(&self.id),
            conversation: owned(&self.conversation),
            channel: owned(&channel),
            chat: owned(&chat),
            trace_parent: owned(&self.trace_parent),
        }
    }

    /// Returns the id of the call, if it has one.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the id of the conversation, if it has one.
    #[must_use]
    pub fn conversation_id(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text of the arguments.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }
}
