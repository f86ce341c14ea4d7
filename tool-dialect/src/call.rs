//! Calls and results, independent of the provider.

use std::fmt;

/// A call requested by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestedCall {
    /// The provider's call id; empty if the provider sends none.
    ///
    /// For MCP this is the JSON of the request's `id`, because `1` and `"1"` are different ids there.
    pub id: String,
    /// The tool, by the name it was offered under.
    pub name: String,
    /// The arguments, exactly as the model wrote them.
    pub arguments: String,
}

impl RequestedCall {
    /// Creates a call. Mostly useful in tests.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    /// Returns a successful result for this call.
    #[must_use]
    pub fn succeeded(self, output: impl Into<String>) -> ProviderResult {
        ProviderResult { id: self.id, name: self.name, output: output.into(), success: true }
    }

    /// Returns a failed result for this call, with a message that the model can act on.
    #[must_use]
    pub fn failed(self, output: impl Into<String>) -> ProviderResult {
        ProviderResult { id: self.id, name: self.name, output: output.into(), success: false }
    }
}

/// The result of a call, to be returned to the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderResult {
    /// The call's id, as in [`RequestedCall`].
    pub id: String,
    /// The tool, by the name it was offered under.
    pub name: String,
    /// The text for the model, for successes and failures.
    pub output: String,
    /// `true` if the call succeeded.
    pub success: bool,
}

/// A call that could not be parsed. [`to_result`](Self::to_result) reports it to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MalformedCall {
    /// The call's id, if it has one.
    pub id: String,
    /// The tool, if the call names one.
    pub name: Option<String>,
    /// The reason.
    pub message: String,
}

impl MalformedCall {
    pub(crate) fn new(id: String, name: Option<String>, message: impl Into<String>) -> Self {
        Self { id, name, message: message.into() }
    }

    /// Returns a failed result that reports the problem to the model.
    #[must_use]
    pub fn to_result(&self) -> ProviderResult {
        ProviderResult {
            id: self.id.clone(),
            name: self.name.clone().unwrap_or_else(|| "unknown".to_owned()),
            output: self.to_string(),
            success: false,
        }
    }
}

impl fmt::Display for MalformedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed call: {}", self.message)
    }
}

impl std::error::Error for MalformedCall {}

/// An error in a provider's response: invalid JSON, an unknown structure, or an error that the provider reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseError {
    message: String,
}

impl ResponseError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ResponseError {}
