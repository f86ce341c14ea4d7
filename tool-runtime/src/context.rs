//! What a handler can know of the call it serves.

use std::time::Duration;

use tokio::time::Instant;

/// Where a call comes from. A handler or a provider asks for it by type; nothing has to be provided.
///
/// ```standalone_crate
/// use tool_runtime::{Context, Dispatcher, ToolCall, tool};
///
/// /// Send a message to whoever is asking.
/// #[tool]
/// fn reply(text: &str, #[inject] context: &Context) -> String {
///     format!("to {} in {}: {text}", context.chat().unwrap_or("nobody"), context.channel().unwrap_or("no channel"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().build()?;
/// let call = ToolCall::from_text("reply", r#"{"text": "hello"}"#).channel("telegram", "42");
/// assert_eq!(tools.call(call).await.output, "to 42 in telegram: hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    pub(crate) tool: String,
    pub(crate) call_id: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) channel: Option<String>,
    pub(crate) chat: Option<String>,
    pub(crate) trace_parent: Option<String>,
}

impl Context {
    /// The name of the tool that was called, as it was registered, whatever a selection calls it.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The id that the provider gave the call.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// The conversation that the call belongs to.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// The channel through which the conversation is held.
    #[must_use]
    pub fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    /// The chat in that channel.
    #[must_use]
    pub fn chat(&self) -> Option<&str> {
        self.chat.as_deref()
    }

    /// The trace that the call belongs to, as W3C's `traceparent` writes it, for a tool that passes it on.
    #[must_use]
    pub fn trace_parent(&self) -> Option<&str> {
        self.trace_parent.as_deref()
    }
}

/// When a call has to be over. A handler asks for it by type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline {
    at: Option<Instant>,
}

impl Deadline {
    pub(crate) fn after(timeout: Option<Duration>) -> Self {
        Self { at: timeout.and_then(|timeout| Instant::now().checked_add(timeout)) }
    }

    /// The moment, if there is one.
    #[must_use]
    pub fn at(&self) -> Option<std::time::Instant> {
        self.at.map(Instant::into_std)
    }

    /// The time that is left; nothing if there is no deadline.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }
}
