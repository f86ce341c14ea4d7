//! Calls and results, without any provider's form.

use std::fmt;

/// A call that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requested {
    /// What the provider calls this call; empty where it gives no ids.
    ///
    /// For MCP it is the JSON of the request's `id`, since there `1` and `"1"` are not the same.
    pub id: String,
    /// The tool, by the name it was offered under.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
}

impl Requested {
    /// A call, to be written by hand in tests.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    /// The answer that it has succeeded.
    #[must_use]
    pub fn succeeded(self, output: impl Into<String>) -> Answer {
        Answer { id: self.id, name: self.name, output: output.into(), success: true }
    }

    /// The answer that it has failed, with words that the model can act on.
    #[must_use]
    pub fn failed(self, output: impl Into<String>) -> Answer {
        Answer { id: self.id, name: self.name, output: output.into(), success: false }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The call's id, as in [`Requested`].
    pub id: String,
    /// The tool, by the name it was offered under.
    pub name: String,
    /// What the model reads, in failure too.
    pub output: String,
    /// Whether the call has succeeded.
    pub success: bool,
}

/// A call that makes no sense. The model should be told: see [`answer`](Self::answer).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Malformed {
    /// The call's id, if it has one.
    pub id: String,
    /// The tool, if the call names one.
    pub name: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl Malformed {
    pub(crate) fn new(id: String, name: Option<String>, message: impl Into<String>) -> Self {
        Self { id, name, message: message.into() }
    }

    /// The result that tells the model so.
    #[must_use]
    pub fn answer(&self) -> Answer {
        Answer {
            id: self.id.clone(),
            name: self.name.clone().unwrap_or_else(|| "unknown".to_owned()),
            output: self.to_string(),
            success: false,
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the call could not be read: {}", self.message)
    }
}

impl std::error::Error for Malformed {}

/// A text that is not a provider's response.
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
