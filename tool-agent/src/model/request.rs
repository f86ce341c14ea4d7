//! What a model is asked.

use serde::{Deserialize, Serialize};
use tool_runtime::Dispatcher;

use crate::Message;

/// A request to a model. It lends what it has, and can be copied: one that failed is sent again as it was.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// What the model is told beforehand.
    pub system: Option<&'a str>,
    /// The conversation so far, the newest message last.
    pub messages: &'a [Message],
    /// The tools that the model may call: [`Dispatcher::offer`] has them in each provider's form. Nothing where it is to
    /// plan only; the messages may have calls of earlier turns nevertheless.
    pub tools: Option<&'a Dispatcher>,
    /// How to answer.
    pub options: &'a Options,
}

impl<'a> Request<'a> {
    /// A request with these messages, without tools.
    #[must_use]
    pub fn new(messages: &'a [Message]) -> Self {
        Self { system: None, messages, tools: None, options: &Options::UNSET }
    }

    /// What the model is told beforehand.
    #[must_use]
    pub fn system(mut self, system: impl Into<Option<&'a str>>) -> Self {
        self.system = system.into();
        self
    }

    /// The tools that the model may call.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<Option<&'a Dispatcher>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// How to answer.
    #[must_use]
    pub fn options(mut self, options: &'a Options) -> Self {
        self.options = options;
        self
    }
}

/// How a model is to answer. What is not set is for the provider to choose.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// How many tokens an answer may have.
    pub max_tokens: Option<u32>,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
    /// How much it thinks before it answers.
    pub effort: Option<Effort>,
}

/// How much a model thinks before it answers. A model that does not think may refuse to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effort {
    /// Little, to answer soon.
    Low,
    /// Some.
    Medium,
    /// Much, to answer well.
    High,
}

impl Effort {
    /// The effort as one word, as the providers write it and as it is serialised.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl Options {
    const UNSET: Self = Self { max_tokens: None, temperature: None, effort: None };

    /// How many tokens an answer may have.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// How freely the model chooses its words, 0 for not at all.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// How much the model thinks before it answers.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }
}
