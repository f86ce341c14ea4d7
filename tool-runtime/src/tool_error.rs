//! The error of a call, for the model and for programs.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::arguments::ArgumentError;
use crate::retry_after::RetryAfter;

/// The error of a failed call.
///
/// An error with a known time for another try lets the caller wait:
///
/// ```
/// use tool_runtime::limits::{Limit, Limiter};
/// use tool_runtime::{Dispatcher, ErrorKind, RuntimeTool, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ring = RuntimeTool::new("ring", "Ring the bell.", |()| async { "ding" });
/// let limiter = Limiter::new().tool("ring", Limit::per_minute(1));
/// let tools = Dispatcher::builder().tool(ring).limit(limiter).build()?;
/// # let mut waited = false;
///
/// for _ in 0..2 {
///     while let Some(error) = tools.call(ToolCall::from_text("ring", "{}")).await.error {
///         assert_eq!(error.kind, ErrorKind::RateLimited);
///         let Some(time) = error.retry_after() else { return Err(error.into()) };
///         tokio::time::sleep(time).await;
///         # waited = true;
///     }
/// }
/// # assert!(waited);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolError {
    /// The kind of failure.
    pub kind: ErrorKind,
    /// The message for the model.
    pub message: String,
    /// The argument errors of [`ErrorKind::InvalidArguments`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<ArgumentError>,
    #[serde(rename = "retry_after_ms", default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<RetryAfter>,
}

impl ToolError {
    /// Creates an error with a message for the model.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), arguments: Vec::new(), retry_after: None }
    }

    /// Returns the time after which another try may succeed, if it is known: in milliseconds, at most 49 days.
    ///
    /// It is for programs; the model reads the message. In JSON it is `retry_after_ms`, which is absent if unknown.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after.map(Duration::from)
    }

    /// Sets the time after which another try may succeed.
    #[must_use]
    pub fn with_retry_after(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.retry_after = time.into().map(RetryAfter::from);
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolError {}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no tool of that name.
    UnknownTool,
    /// The arguments are invalid; the tool did not run.
    InvalidArguments,
    /// The handler returned an error.
    Failed,
    /// The handler asks for another call, and the message says with which changes; see
    /// [`HandlerError::retry`](crate::HandlerError::retry).
    Retry,
    /// The handler says that another call will not help; see [`HandlerError::fatal`](crate::HandlerError::fatal).
    Fatal,
    /// The handler panicked.
    Panicked,
    /// The handler exceeded its timeout and was stopped.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
    /// An injected value could not be provided; the handler did not run.
    Injection,
    /// The handler succeeded, but a finish hook of an injected value failed, such as a commit.
    Finish,
    /// The handler could not be stopped in time and may still be running.
    OutcomeUnknown,
    /// The call needs a Tokio runtime and there is none.
    NoRuntime,
    /// The user or the policy refused the call; it did not run.
    Refused,
    /// The user refused the call and aborted the turn: the caller must stop.
    Aborted,
    /// The call waits for an approval; the token is in the metadata. If a handler returns this error, its call is
    /// [`OutcomeUnknown`](Self::OutcomeUnknown): it has asked for approval elsewhere.
    Pending,
    /// The call could not be recorded and did not run.
    Journal,
    /// A rate limit was exceeded; the call did not run.
    RateLimited,
    /// Too many calls are running and waiting, or the same call is running already; it did not run.
    Busy,
    /// No worker or server can run the call now; it did not run.
    Unavailable,
    /// A kind that this version does not know, in a result of a newer version.
    #[serde(other)]
    Unrecognized,
}

impl ErrorKind {
    /// Returns the name of the kind, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::InvalidArguments => "invalid_arguments",
            Self::Failed => "failed",
            Self::Retry => "retry",
            Self::Fatal => "fatal",
            Self::Panicked => "panicked",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Injection => "injection",
            Self::Finish => "finish",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::NoRuntime => "no_runtime",
            Self::Refused => "refused",
            Self::Aborted => "aborted",
            Self::Pending => "pending",
            Self::Journal => "journal",
            Self::RateLimited => "rate_limited",
            Self::Busy => "busy",
            Self::Unavailable => "unavailable",
            Self::Unrecognized => "unrecognized",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn reads_every_kind_as_it_is_written() {
        use ErrorKind::*;
        let kinds = [
            UnknownTool,
            InvalidArguments,
            Failed,
            Retry,
            Fatal,
            Panicked,
            TimedOut,
            Cancelled,
            Injection,
            Finish,
            OutcomeUnknown,
            NoRuntime,
            Refused,
            Aborted,
            Pending,
            Journal,
            RateLimited,
            Busy,
            Unavailable,
            Unrecognized,
        ];
        for kind in kinds {
            let written = serde_json::to_string(&kind).unwrap();
            assert_eq!(serde_json::from_str::<ErrorKind>(&written).unwrap(), kind, "{written}");
        }
    }

    #[test]
    fn writes_the_retry_time_only_if_it_is_known() {
        let error = ToolError::new(ErrorKind::Busy, "x");
        assert_eq!(serde_json::to_value(&error).unwrap(), json!({"kind": "busy", "message": "x"}));
        let error = error.with_retry_after(Duration::from_micros(1_500_001));
        let written = serde_json::to_value(&error).unwrap();
        assert_eq!(written, json!({"kind": "busy", "message": "x", "retry_after_ms": 1501}));
        assert_eq!(serde_json::from_value::<ToolError>(written).unwrap(), error);
    }

    /// Other versions and programs may write a time that does not fit: the result must be read all the same.
    #[test]
    fn reads_any_retry_time() {
        let read = |time: Option<Value>| {
            let mut error = json!({"kind": "busy", "message": "x"});
            if let Some(time) = time {
                error["retry_after_ms"] = time;
            }
            serde_json::from_value::<ToolError>(error).unwrap().retry_after()
        };
        assert_eq!(read(None), None);
        assert_eq!(read(Some(Value::Null)), None);
        assert_eq!(read(Some(json!(1_500))), Some(Duration::from_millis(1_500)));
        assert_eq!(read(Some(json!(0))), Some(Duration::from_millis(1)));
        assert_eq!(read(Some(json!(u64::MAX))), Some(Duration::from_millis(u32::MAX.into())));
    }

    /// A `ToolResult` contains its error, so a larger error would cost successful calls.
    #[test]
    fn the_retry_time_does_not_enlarge_the_error() {
        assert_eq!(size_of::<ToolError>(), size_of::<(ErrorKind, String, Vec<ArgumentError>)>());
    }
}
