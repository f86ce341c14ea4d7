//! The supported providers, and strict mode.

use std::fmt;
use std::str::FromStr;

use tool_model::ToolDefinition;

use crate::{LossReport, NameClash, ToolOffer};

/// The format in which a provider receives tools, calls them and receives results.
///
/// ```
/// use tool_dialect::Dialect;
/// use tool_model::Manifest;
///
/// let manifest = Manifest::from_json(
///     r#"{"clock.now": {"description": "The time.", "handler": "app::now", "arguments": {}}}"#,
/// )?;
/// let offer = Dialect::Anthropic.offer(manifest.iter())?;
/// assert_eq!(offer.definitions()[0]["name"], "clock__now");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Dialect {
    /// OpenAI Chat Completions and compatible servers: LiteLLM, Ollama, vLLM.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// OpenRouter, in the format of Chat Completions.
    OpenRouter,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Amazon Bedrock Converse.
    Bedrock,
    /// The Model Context Protocol: `tools/list` and `tools/call`.
    Mcp,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 7] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::OpenRouter,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
        Self::Mcp,
    ];

    /// Returns the strict form, which asks the provider to enforce the schemas.
    ///
    /// Tools with `strict = false`, and tools that the strict mode cannot express, are offered non-strictly. The
    /// [report](DialectForm::report) gives the reasons.
    #[must_use]
    pub fn strict(self) -> DialectForm {
        DialectForm { dialect: self, strict: true }
    }

    /// Returns the tools in the non-strict form; see [`DialectForm::offer`].
    ///
    /// # Errors
    /// If two tools have the same encoded name.
    pub fn offer<'a>(
        self,
        tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>,
    ) -> Result<ToolOffer, NameClash> {
        DialectForm::from(self).offer(tools)
    }

    /// Returns the loss report of the non-strict form; see [`DialectForm::report`].
    #[must_use]
    pub fn report<'a>(self, tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>) -> LossReport {
        DialectForm::from(self).report(tools)
    }

    /// Returns the name used on command lines and in URLs: `openai`, `openai-responses`, `openrouter`, `anthropic`,
    /// `gemini`, `bedrock`, `mcp`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenRouter => "openrouter",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Mcp => "mcp",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        found.ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}

/// An error for an unknown dialect name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect(String);

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::name).collect();
        let name = tool_model::shorten(&self.0, tool_model::LONGEST_EXCERPT);
        write!(f, "unknown dialect `{name}`; expected one of {}", known.join(", "))
    }
}

impl std::error::Error for UnknownDialect {}

/// A dialect with strict mode on or off. [`Dialect::strict`] turns it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DialectForm {
    /// The dialect.
    pub dialect: Dialect,
    /// `true` to ask the provider to enforce the schemas where it can.
    pub strict: bool,
}

impl From<Dialect> for DialectForm {
    fn from(dialect: Dialect) -> Self {
        Self { dialect, strict: false }
    }
}

impl fmt::Display for DialectForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dialect, if self.strict { " (strict)" } else { "" })
    }
}
