//! What a call answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ToolError;

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

/// Where the metadata of a pending call has the token with which somebody answers.
pub(crate) const TOKEN: &str = "token";

/// Where they say when it is too late for that, in seconds since 1970.
pub(crate) const EXPIRES: &str = "expires";

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

    /// Takes back what is said under a key.
    pub(crate) fn remove(&mut self, key: &str) {
        if let Some(map) = &mut self.0 {
            map.remove(key);
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{ArgumentError, ErrorKind};

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
        let failure = ToolResult::failure(error.with_retry_after(std::time::Duration::from_millis(200)));
        assert_eq!(read_back(&failure), failure);
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
