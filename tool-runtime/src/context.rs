//! The origin and the deadline of a call.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// The origin of a call. Handlers and providers can have it injected by type; nothing has to be provided.
///
/// ```standalone_crate
/// use tool_runtime::{Context, Dispatcher, ToolCall, tool};
///
/// /// Send a message to the chat of the call.
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
    /// The name by which the model called the tool, if a selection has renamed it.
    pub(crate) called: Option<Arc<str>>,
    pub(crate) call_id: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) channel: Option<String>,
    pub(crate) chat: Option<String>,
    pub(crate) trace_parent: Option<String>,
}

impl Context {
    /// Returns the name of the tool in the registry, even if a selection has renamed it.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the id that the model provider gave the call.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// Returns the conversation that the call belongs to.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// Returns the channel of the conversation.
    #[must_use]
    pub fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    /// Returns the chat in that channel.
    #[must_use]
    pub fn chat(&self) -> Option<&str> {
        self.chat.as_deref()
    }

    /// Returns the trace that the call belongs to, in the format of W3C's `traceparent`, for tools that propagate it.
    #[must_use]
    pub fn trace_parent(&self) -> Option<&str> {
        self.trace_parent.as_deref()
    }
}

/// The deadline of a call, fixed when the call starts. Handlers can have it injected by type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline {
    at: Option<Instant>,
}

impl Deadline {
    pub(crate) fn after(timeout: Option<Duration>) -> Self {
        Self { at: timeout.and_then(|timeout| Instant::now().checked_add(timeout)) }
    }

    /// Returns the deadline, if there is one.
    #[must_use]
    pub fn at(&self) -> Option<std::time::Instant> {
        self.at.map(Instant::into_std)
    }

    /// Returns the time that is left; `None` if there is no deadline.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::time::sleep;

    use super::*;
    use crate::inject::InjectError;
    use crate::{Dispatcher, RuntimeTool, Scope, ToolCall};

    const SECOND: Duration = Duration::from_secs(1);

    async fn left(scope: &Scope) -> String {
        format!("{:?}", scope.deadline().remaining())
    }

    /// Even if it is read late, or a provider took some of the time.
    #[tokio::test(start_paused = true)]
    async fn a_deadline_is_fixed_when_the_call_starts() {
        let late = RuntimeTool::scoped("late", "", |(): (), scope: Scope| async move {
            sleep(SECOND * 8).await;
            left(&scope).await
        });
        let provided = RuntimeTool::scoped("provided", "", |(): (), scope: Scope| async move {
            scope.get::<u32>("slow").await.map(drop).map_err(|error| error.to_string())?;
            Ok::<_, String>(left(&scope).await)
        });
        let tools = Dispatcher::builder().tool(late).tool(provided).timeout(SECOND * 10);
        let tools = tools.provide("slow", |_| async {
            sleep(SECOND * 7).await;
            Ok::<_, InjectError>(7_u32)
        });
        let tools = tools.build().unwrap();
        assert_eq!(tools.call(ToolCall::from_text("late", "{}")).await.output, "Some(2s)");
        assert_eq!(tools.call(ToolCall::from_text("provided", "{}")).await.output, "Some(3s)");
    }

    /// A handler that plans with its deadline is not stopped before it.
    #[tokio::test(start_paused = true)]
    async fn a_call_is_not_stopped_before_its_deadline() {
        let plans = RuntimeTool::scoped("plans", "", |(): (), scope: Scope| async move {
            sleep(SECOND * 8).await;
            sleep(scope.deadline().remaining().unwrap() - SECOND / 10).await;
            "in time"
        });
        let tools = Dispatcher::builder().tool(plans).timeout(SECOND * 10).concurrency(1, 1).build().unwrap();
        assert_eq!(tools.call(ToolCall::from_text("plans", "{}")).await.output, "in time");
    }

    /// As for a handler that connects first and listens for the cancellation later.
    #[tokio::test(start_paused = true)]
    async fn a_token_that_is_read_after_the_stop_is_cancelled() {
        let remote = RuntimeTool::remote("remote", "", &json!({"type": "object"}), |_, scope: Scope| async move {
            sleep(SECOND * 2).await;
            scope.cancellation().cancelled().await;
            "stopped there as well"
        });
        let tools = Dispatcher::builder().tool(remote.settles_within(SECOND * 60)).timeout(SECOND).build().unwrap();
        let result = tools.call(ToolCall::from_text("remote", "{}")).await;
        assert_eq!(result.output, "stopped there as well");
        let whole = tools.call(ToolCall::from_text("remote", "{}")).timeout(SECOND * 30).await;
        assert_eq!(whole.output, "stopped there as well", "the control: it listens before the stop");
    }
}
