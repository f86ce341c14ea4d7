//! Errors by which a handler says whether to retry.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::ErrorKind;
use crate::handler_failure::HandlerFailure;

/// The error of a handler that knows whether another call would help.
///
/// Any error that implements `Display` is a plain failure, and the model decides what to do next. With this error the
/// handler decides: [`retry`](Self::retry) asks the model to correct its call, [`fatal`](Self::fatal) asks it to give up.
/// The operator `?` converts every other error into a plain failure.
///
/// ```standalone_crate
/// use tool_runtime::{Dispatcher, ErrorKind, HandlerError, ToolCall, tool};
///
/// /// The load of a host.
/// #[tool]
/// fn load(host: &str) -> Result<f64, HandlerError> {
///     match host {
///         "web" => Err(HandlerError::retry("there is `web-1` and `web-2`; name one of them")),
///         "mail" => Err(HandlerError::fatal("`mail` was switched off for good")),
///         _ => Ok(std::fs::read_to_string(format!("/hosts/{host}/load"))?.trim().parse()?),
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().build()?;
/// let result = tools.call(ToolCall::from_text("load", r#"{"host": "web"}"#)).await;
/// assert_eq!(result.output, "there is `web-1` and `web-2`; name one of them");
/// assert_eq!(result.error.unwrap().kind, ErrorKind::Retry);
/// # let kind = async |host| {
/// #     let call = ToolCall::new("load", serde_json::json!({"host": host}));
/// #     tools.call(call).await.error.unwrap().kind
/// # };
/// # assert_eq!(kind("mail").await, ErrorKind::Fatal);
/// # assert_eq!(kind("nowhere").await, ErrorKind::Failed);
/// # Ok(())
/// # }
/// ```
///
/// `HandlerError` does not implement [`Error`], so that every `Error` can be converted into it. Convert types that do not
/// implement `Error` either, such as `anyhow::Error`, with [`failed`](Self::failed): `.map_err(HandlerError::failed)?`.
#[derive(Debug)]
pub struct HandlerError {
    failure: Box<HandlerFailure>,
}

impl HandlerError {
    /// Creates a retryable error: the model should call again with different arguments. The hint explains how.
    #[must_use]
    pub fn retry(hint: impl Into<String>) -> Self {
        Self { failure: HandlerFailure::new(ErrorKind::Retry, hint) }
    }

    /// Creates a fatal error: no call of this tool will succeed, with any arguments.
    #[must_use]
    pub fn fatal(message: impl Into<String>) -> Self {
        Self { failure: HandlerFailure::new(ErrorKind::Fatal, message) }
    }

    /// Creates a plain failure from any error. The model reads the error, and its causes are logged.
    #[must_use]
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { failure: HandlerFailure::from_error(error.into()) }
    }

    /// Sets the time after which a retry may succeed, such as a server's `Retry-After`. Programs read it from
    /// [`ToolError::retry_after`](crate::ToolError::retry_after); the model reads the message.
    ///
    /// ```standalone_crate
    /// use std::time::Duration;
    ///
    /// use tool_runtime::{Dispatcher, HandlerError, ToolCall, tool};
    ///
    /// /// Translate a text.
    /// #[tool]
    /// fn translate(text: &str) -> Result<String, HandlerError> {
    ///     let overloaded = HandlerError::failed(format!("no room for {} letters, try again in a minute", text.len()));
    ///     Err(overloaded.with_retry_after(Duration::from_secs(60)))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// let result = tools.call(ToolCall::from_text("translate", r#"{"text": "hello"}"#)).await;
    /// assert_eq!(result.error.unwrap().retry_after(), Some(Duration::from_secs(60)));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_retry_after(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.failure.retry_after = time.into();
        self
    }

    /// Sets the cause, which is logged and which the model does not read.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.failure.error = Some(cause.into());
        self
    }

    /// Returns [`Retry`](ErrorKind::Retry), [`Fatal`](ErrorKind::Fatal) or [`Failed`](ErrorKind::Failed).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.failure.kind
    }

    pub(crate) fn into_failure(self) -> Box<HandlerFailure> {
        self.failure
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::failed(error)
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.failure.message)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::journal::MemoryJournal;
    use crate::{Dispatcher, RuntimeTool, ToolCall};

    #[tokio::test]
    async fn the_retry_time_is_in_the_result_and_in_its_replay() {
        let time = Duration::from_millis(1_500);
        let busy = move |(): ()| async move { Err::<(), _>(HandlerError::failed("busy").with_retry_after(time)) };
        let tool = RuntimeTool::new("translate", "", busy);
        let tools = Dispatcher::builder().tool(tool).journal(MemoryJournal::new()).build().unwrap();
        let call = async || tools.call(ToolCall::new("translate", json!({})).conversation("c").id("1")).await;
        let (first, again) = (call().await, call().await);
        assert_eq!(again.metadata.get("replayed"), Some(&json!(true)));
        assert_eq!(first.output, "busy", "the model reads the message as it is");
        assert_eq!([first, again].map(|result| result.error.unwrap().retry_after()), [Some(time); 2]);
    }
}
