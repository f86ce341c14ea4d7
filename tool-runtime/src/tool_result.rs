//! The result of a call.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ToolError;

/// The result of a call. Every call has one.
///
/// A handler can return one itself, to add metadata, or to forward the result of another program.
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
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// `true` if the handler ran and everything around it succeeded.
    pub success: bool,
    /// The text that the model reads, also for a failure.
    pub output: String,
    /// The error of a failure.
    pub error: Option<ToolError>,
    /// Data for user interfaces. The model does not see it.
    #[serde(default)]
    pub metadata: Metadata,
    /// Set by the dispatcher only. Not serialized.
    #[serde(skip)]
    pub(crate) not_started: bool,
}

impl ToolResult {
    /// Creates a success with the text that the model reads.
    #[inline]
    #[must_use]
    pub fn success(output: String) -> Self {
        Self { success: true, output, error: None, metadata: Metadata::default(), not_started: false }
    }

    /// Creates a failure. The model reads the message of the error.
    #[must_use]
    pub fn failure(error: ToolError) -> Self {
        let output = error.message.clone();
        Self { success: false, output, error: Some(error), metadata: Metadata::default(), not_started: false }
    }

    /// Returns `true` if the dispatcher knows that the handler was not entered, for example because the call was refused,
    /// timed out in a queue, or its provider failed. Such a call has had no effect and can be made again.
    ///
    /// `false` means that the handler has run or may have run.
    ///
    /// ```
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let fails = RuntimeTool::new("fails", "Always fails.", |()| async { Err::<(), _>("no") });
    /// let tools = Dispatcher::builder().tool(fails).build()?;
    ///
    /// assert!(tools.call(ToolCall::from_text("fials", "{}")).await.is_not_started());
    /// assert!(!tools.call(ToolCall::from_text("fails", "{}")).await.is_not_started());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_not_started(&self) -> bool {
        self.not_started
    }

    /// Marks the result as that of a call whose handler was not entered, for code that handles a call before the
    /// dispatcher does. The dispatcher marks its own results, and ignores the mark of a result that a handler returns.
    #[must_use]
    pub fn not_started(mut self) -> Self {
        self.not_started = true;
        self
    }
}

/// Compares the contents. [`is_not_started`](ToolResult::is_not_started) describes the call and is not compared.
impl PartialEq for ToolResult {
    fn eq(&self, other: &Self) -> bool {
        let Self { success, output, error, metadata, not_started: _ } = other;
        self.success == *success && self.output == *output && self.error == *error && self.metadata == *metadata
    }
}

/// The metadata key of a pending call's sealed token.
pub(crate) const TOKEN: &str = "token";

/// The metadata key of the token's expiry, in milliseconds since 1970.
pub(crate) const EXPIRES: &str = "expires";

/// The metadata of a result. Empty metadata does not allocate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(Option<Box<Map<String, Value>>>);

impl Metadata {
    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_ref()?.get(key)
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.0.get_or_insert_default().insert(key.into(), value.into());
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, key: &str) {
        if let Some(map) = &mut self.0 {
            map.remove(key);
        }
    }

    /// Returns an iterator over the entries.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().flat_map(|map| map.iter()).map(|(key, value)| (key.as_str(), value))
    }

    /// Returns `true` if there are no entries.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ErrorKind;
    use crate::arguments::{ArgumentError, ArgumentErrorKind};

    fn read_back(result: &ToolResult) -> ToolResult {
        serde_json::from_str(&serde_json::to_string(result).unwrap()).unwrap()
    }

    #[test]
    fn a_result_survives_serialization() {
        let mut success = ToolResult::success("42".to_owned());
        assert_eq!(read_back(&success), success);
        success.metadata.insert("diff", json!({"before": 1, "after": [2]}));
        assert_eq!(read_back(&success), success);

        let mut error = ToolError::new(ErrorKind::InvalidArguments, "no");
        error.arguments = vec![ArgumentError {
            path: "a".into(),
            received: None,
            expected: "missing".into(),
            kind: ArgumentErrorKind::Missing,
        }];
        let failure = ToolResult::failure(error.with_retry_after(std::time::Duration::from_millis(200)));
        assert_eq!(read_back(&failure), failure);
    }

    #[test]
    fn ignores_fields_of_newer_versions() {
        let newer = json!({
            "success": false, "output": "x", "later": 1,
            "error": {"kind": "of_the_future", "message": "x", "later": 1},
        });
        let read: ToolResult = serde_json::from_value(newer).unwrap();
        assert_eq!(read, ToolResult::failure(ToolError::new(ErrorKind::Unrecognized, "x")));
    }
}
