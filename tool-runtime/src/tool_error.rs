//! What went wrong with a call, for the model and for programs.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::display::escape;
use crate::retry_after::RetryAfter;

/// What went wrong with a call.
///
/// One that was told to come back later says when, to whoever makes the call again:
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
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// In words, as the model reads it.
    pub message: String,
    /// For [`ErrorKind::InvalidArguments`]: each argument that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<ArgumentError>,
    #[serde(rename = "retry_after_ms", default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<RetryAfter>,
}

impl ToolError {
    /// A failure of a kind, in words for the model.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), arguments: Vec::new(), retry_after: None }
    }

    /// When another try may go well, where that is known: to the millisecond, and 49 days at most.
    ///
    /// It is for programs; the model reads the message. As JSON it is `retry_after_ms`, which is there only if it is known.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after.map(Duration::from)
    }

    /// The same, with the time after which another try may go well, if it is known.
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
    /// No tool of that name is on offer.
    UnknownTool,
    /// The arguments are not what the tool takes; it did not run.
    InvalidArguments,
    /// The handler answered with an error.
    Failed,
    /// The handler asks for another call, and the message says how to make it; see
    /// [`HandlerError::retry`](crate::HandlerError::retry).
    Retry,
    /// The handler says that another call will not help; see [`HandlerError::fatal`](crate::HandlerError::fatal).
    Fatal,
    /// The handler panicked.
    Panicked,
    /// The handler did not finish in time and was stopped.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
    /// A value to inject could not be had; the handler did not run.
    Injection,
    /// The handler succeeded, but what was injected could not be finished, such as a commit.
    Finish,
    /// The handler could not be stopped in time and may still be running.
    OutcomeUnknown,
    /// The call needs a Tokio runtime and there is none.
    NoRuntime,
    /// Somebody, or the policy, does not want the call; it did not run.
    Refused,
    /// Somebody does not want this call nor any other: whoever called is to stop.
    Aborted,
    /// Somebody is asked, who will answer later; the token is in the metadata. A handler that answers so has asked
    /// elsewhere: its call is [`OutcomeUnknown`](Self::OutcomeUnknown).
    Pending,
    /// The call could not be recorded and did not run.
    Journal,
    /// The tool was called too often; it did not run.
    RateLimited,
    /// Too many calls are running and waiting, or this very one is; it did not run.
    Busy,
    /// Nobody is there who could run it, such as a program on another machine; it did not run.
    Unavailable,
    /// One that this version does not know, in a result that a newer one recorded.
    #[serde(other)]
    Unrecognized,
}

impl ErrorKind {
    /// The kind as one word, as it is serialised.
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

/// One argument that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentError {
    /// Where: `order.items[2].sku`. Empty for the arguments as a whole.
    pub path: String,
    /// What came, shortened; nothing where something is missing.
    pub received: Option<String>,
    /// What was expected.
    pub expected: String,
}

/// On one line. Characters that do not show are escaped: names and values are the model's, and may hold anything.
impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", escape(&self.path))?;
        }
        if let Some(received) = &self.received {
            write!(f, "got {}, expected ", escape(received))?;
        }
        f.write_str(&escape(&self.expected))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The words are derived when they are read, and written out where they are written.
    #[test]
    fn every_kind_is_read_as_it_is_written() {
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
    fn the_time_to_come_back_is_written_only_if_it_is_known() {
        let error = ToolError::new(ErrorKind::Busy, "x");
        assert_eq!(serde_json::to_value(&error).unwrap(), json!({"kind": "busy", "message": "x"}));
        let error = error.with_retry_after(Duration::from_micros(1_500_001));
        let written = serde_json::to_value(&error).unwrap();
        assert_eq!(written, json!({"kind": "busy", "message": "x", "retry_after_ms": 1501}));
        assert_eq!(serde_json::from_value::<ToolError>(written).unwrap(), error);
    }

    /// What other versions and other programs write: a time that does not fit must not cost the result.
    #[test]
    fn any_time_to_come_back_is_read() {
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

    /// A result has room for its error, so that a longer one would cost the calls that succeed.
    #[test]
    fn the_time_to_come_back_takes_no_room() {
        assert_eq!(size_of::<ToolError>(), size_of::<(ErrorKind, String, Vec<ArgumentError>)>());
    }
}
