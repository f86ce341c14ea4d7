//! What a call answers.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The answer to a call. There always is one, whatever happened.
///
/// A handler can give one back itself, to say more than its output, or to pass on what another program answered.
///
/// ```standalone_crate
/// use tool_runtime::{Dispatcher, ErrorKind, ToolCall, ToolError, ToolResult, tool};
///
/// /// Start a job.
/// #[tool]
/// fn start(job: &str) -> ToolResult {
///     if job.is_empty() {
///         return ToolResult::failure(ToolError::new(ErrorKind::Retry, "Say which job."));
///     }
///     let mut result = ToolResult::success(format!("{job} was started."));
///     result.metadata.insert("job", 7);
///     result
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().build()?;
/// let result = tools.call(ToolCall::from_text("start", r#"{"job": "backup"}"#)).await;
/// assert_eq!(result.output, "backup was started.");
/// assert_eq!(result.metadata.get("job").and_then(|job| job.as_u64()), Some(7));
///
/// let result = tools.call(ToolCall::from_text("start", r#"{"job": ""}"#)).await;
/// assert_eq!(result.error.unwrap().kind, ErrorKind::Retry);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// Whether the handler ran and everything around it went well.
    pub success: bool,
    /// What the model reads, in failure too.
    pub output: String,
    /// What went wrong.
    pub error: Option<ToolError>,
    /// For the interface, not for the model.
    #[serde(default)]
    pub metadata: Metadata,
}

impl ToolResult {
    /// A success, with what the model reads.
    #[inline]
    #[must_use]
    pub fn success(output: String) -> Self {
        Self { success: true, output, error: None, metadata: Metadata::default() }
    }

    /// A failure. The model reads the error's message.
    #[must_use]
    pub fn failure(error: ToolError) -> Self {
        Self { success: false, output: error.message.clone(), error: Some(error), metadata: Metadata::default() }
    }
}

/// Where the metadata of a call whose handler was started says who let it run. Those of other calls say nothing there.
pub(crate) const DECISION: &str = "decision";

/// What a call says besides its output. Most say nothing, and then nothing is allocated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(Option<Box<Map<String, Value>>>);

impl Metadata {
    /// What is said under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_ref()?.get(key)
    }

    /// Says something under a key.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.0.get_or_insert_default().insert(key.into(), value.into());
    }

    /// Everything that is said.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().flat_map(|map| map.iter()).map(|(key, value)| (key.as_str(), value))
    }

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|map| map.is_empty())
    }
}

impl Serialize for Metadata {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::deserialize(deserializer)?;
        Ok(Self((!map.is_empty()).then(|| Box::new(map))))
    }
}

/// What went wrong with a call.
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
}

impl ToolError {
    /// A failure of a kind, in words for the model.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), arguments: Vec::new() }
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
    /// Somebody is asked, who will answer later; the token is in the metadata.
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

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        match &self.received {
            Some(received) => write!(f, "got {received}, expected {}", self.expected),
            None => f.write_str(&self.expected),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_back(result: &ToolResult) -> ToolResult {
        serde_json::from_str(&serde_json::to_string(result).unwrap()).unwrap()
    }

    #[test]
    fn a_result_can_be_written_and_read() {
        let mut success = ToolResult::success("42".to_owned());
        assert_eq!(read_back(&success), success);
        success.metadata.insert("diff", json!({"before": 1, "after": [2]}));
        assert_eq!(read_back(&success), success);

        let mut error = ToolError::new(ErrorKind::InvalidArguments, "no");
        error.arguments = vec![ArgumentError { path: "a".into(), received: None, expected: "missing".into() }];
        let failure = ToolResult::failure(error);
        assert_eq!(read_back(&failure), failure);
    }

    /// The words are derived when they are read, and written out where they are written.
    #[test]
    fn every_kind_is_read_as_it_is_written() {
        use ErrorKind::*;
        let kinds = [
            UnknownTool,
            InvalidArguments,
            Failed,
            Panicked,
            TimedOut,
            Cancelled,
            Injection,
            Finish,
            OutcomeUnknown,
            NoRuntime,
            Unavailable,
            Unrecognized,
        ];
        for kind in kinds {
            let failure = ToolResult::failure(ToolError::new(kind, "x"));
            assert_eq!(read_back(&failure), failure);
        }
    }

    #[test]
    fn what_a_newer_version_added_does_not_matter() {
        let newer = json!({
            "success": false, "output": "x", "later": 1,
            "error": {"kind": "of_the_future", "message": "x", "later": 1},
        });
        let read: ToolResult = serde_json::from_value(newer).unwrap();
        assert_eq!(read, ToolResult::failure(ToolError::new(ErrorKind::Unrecognized, "x")));
    }
}
