//! Which provider, and whether it is asked to enforce the schemas.

use std::fmt;
use std::str::FromStr;

use tool_model::ToolDefinition;

use crate::{NameClash, Offer, Report};

/// The form in which a provider takes tools, calls them and is told the results.
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
    /// OpenAI's Chat Completions, and what speaks the same: LiteLLM, Ollama, vLLM.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// OpenRouter, in the form of Chat Completions.
    OpenRouter,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// Bedrock's Converse.
    Bedrock,
    /// The Model Context Protocol: `tools/list` and `tools/call`.
    Mcp,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::OpenRouter,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
        Self::Mcp,
    ];

    /// The same, asking the provider to enforce the schemas where it can.
    ///
    /// A tool that says `strict = false` is left out of that, and one that cannot be said strictly: it is offered as
    /// ever, and the [report](Form::report) says why.
    #[must_use]
    pub fn strict(self) -> Form {
        Form { dialect: self, strict: true }
    }

    /// Tools in this form; see [`Form::offer`].
    ///
    /// # Errors
    /// When two tools have one name for the provider.
    pub fn offer<'a>(self, tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>) -> Result<Offer, NameClash> {
        Form::from(self).offer(tools)
    }

    /// What this form cannot say of the tools; see [`Form::report`].
    #[must_use]
    pub fn report<'a>(self, tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>) -> Report {
        Form::from(self).report(tools)
    }

    /// How it is called on a command line: `openai`, `openai-responses`, `openrouter`, `anthropic`, `gemini`,
    /// `bedrock`, `mcp`.
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

/// A name that no dialect has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect(String);

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::name).collect();
        write!(f, "no dialect is called `{}`; there are {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownDialect {}

/// A dialect, and whether the provider is asked to enforce the schemas. [`Dialect::strict`] makes one that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    /// Whose form it is.
    pub dialect: Dialect,
    /// Whether the provider is asked to enforce the schemas where it can.
    pub strict: bool,
}

impl From<Dialect> for Form {
    fn from(dialect: Dialect) -> Self {
        Self { dialect, strict: false }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dialect, if self.strict { " (strict)" } else { "" })
    }
}
