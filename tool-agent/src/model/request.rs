//! Requests to a model.

use serde::{Deserialize, Serialize};
use tool_runtime::Dispatcher;

use crate::Message;

/// A request to a model. It borrows its data and is `Copy`, so that a failed request can be repeated.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ModelRequest<'a> {
    /// The system prompt.
    pub system: Option<&'a str>,
    /// The conversation so far, the newest message last.
    pub messages: &'a [Message],
    /// The tools that the model may call; [`Dispatcher::offer`] encodes them for a provider. `None` if the model may
    /// not call any; the messages can still contain calls of earlier turns.
    pub tools: Option<&'a Dispatcher>,
    /// The generation options.
    pub options: &'a ModelOptions,
}

impl<'a> ModelRequest<'a> {
    /// Creates a request with these messages, without tools.
    #[must_use]
    pub fn new(messages: &'a [Message]) -> Self {
        Self { system: None, messages, tools: None, options: &ModelOptions::UNSET }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system(mut self, system: impl Into<Option<&'a str>>) -> Self {
        self.system = system.into();
        self
    }

    /// Sets the tools that the model may call.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<Option<&'a Dispatcher>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets the generation options.
    #[must_use]
    pub fn options(mut self, options: &'a ModelOptions) -> Self {
        self.options = options;
        self
    }
}

/// Generation options of a model. Unset options are the provider's choice.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelOptions {
    /// The maximum number of output tokens.
    pub max_tokens: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The reasoning effort.
    pub effort: Option<ReasoningEffort>,
}

/// The reasoning effort of a model. A model without reasoning may reject it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningEffort {
    /// Little reasoning, for fast responses.
    Low,
    /// Moderate reasoning.
    Medium,
    /// Much reasoning, for better responses.
    High,
}

impl ReasoningEffort {
    /// Returns the serialized name, which is also the providers' spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl ModelOptions {
    const UNSET: Self = Self { max_tokens: None, temperature: None, effort: None };

    /// Sets the maximum number of output tokens.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the reasoning effort.
    #[must_use]
    pub fn effort(mut self, effort: ReasoningEffort) -> Self {
        self.effort = Some(effort);
        self
    }
}
