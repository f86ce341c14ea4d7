//! The providers' rules for names, counts and schemas.

use crate::Dialect;
use crate::schema::{ANTHROPIC_STRICT, GEMINI, OPENAI_STRICT, PORTABLE, SchemaProfile};

/// The rules of one provider.
pub(crate) struct ProviderRules {
    /// The provider's name in messages.
    pub(crate) title: &'static str,
    pub(crate) tool_names: NameRule,
    /// The rule for top-level argument names; nested properties are not restricted.
    pub(crate) argument_names: Option<NameRule>,
    pub(crate) most_tools: Option<usize>,
    pub(crate) schemas: &'static SchemaProfile,
    pub(crate) strict: Option<StrictRules>,
    /// `true` if every tool needs a description.
    pub(crate) described: bool,
}

/// A rule for valid names.
pub(crate) struct NameRule {
    pub(crate) longest: usize,
    /// The allowed bytes.
    taken: [bool; 256],
    /// `true` if a name must start with a letter or `_`.
    pub(crate) starts_with_letter: bool,
}

/// The rules of a strict mode.
pub(crate) struct StrictRules {
    pub(crate) schemas: &'static SchemaProfile,
    /// The limits across all strict tools of a request.
    pub(crate) budget: Option<StrictBudget>,
}

/// The limits across all strict tools of a request.
#[derive(Clone, Copy)]
pub(crate) struct StrictBudget {
    pub(crate) tools: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// Names that every provider accepts.
const PORTABLE_NAME: NameRule = NameRule::new(64, "-", true);

const OPENAI: ProviderRules = ProviderRules {
    title: "OpenAI",
    tool_names: PORTABLE_NAME,
    argument_names: None,
    most_tools: Some(128),
    schemas: &PORTABLE,
    strict: Some(StrictRules { schemas: &OPENAI_STRICT, budget: None }),
    described: false,
};

const RESPONSES: ProviderRules = ProviderRules { tool_names: NameRule { longest: 128, ..PORTABLE_NAME }, ..OPENAI };

const OPENROUTER: ProviderRules = ProviderRules { title: "OpenRouter", ..OPENAI };

/// Claude's strict mode, on every platform.
const CLAUDE_STRICT: StrictRules =
    StrictRules { schemas: &ANTHROPIC_STRICT, budget: Some(StrictBudget { tools: 20, optional: 24, unions: 16 }) };

const ANTHROPIC: ProviderRules = ProviderRules {
    title: "Anthropic",
    argument_names: Some(NameRule::new(64, "-.", false)),
    most_tools: None,
    strict: Some(CLAUDE_STRICT),
    ..OPENAI
};

const GEMINI_RULES: ProviderRules = ProviderRules {
    title: "Gemini",
    // Newer models accept 128 characters, older ones 64.
    tool_names: NameRule::new(64, "-.:", true),
    argument_names: Some(NameRule::new(64, "", true)),
    most_tools: None,
    schemas: &GEMINI,
    strict: None,
    described: true,
};

const BEDROCK: ProviderRules = ProviderRules {
    title: "Bedrock",
    tool_names: PORTABLE_NAME,
    argument_names: None,
    most_tools: None,
    schemas: &PORTABLE,
    strict: Some(CLAUDE_STRICT),
    described: false,
};

const MCP: ProviderRules =
    ProviderRules { title: "MCP", tool_names: NameRule::new(128, "-.", false), strict: None, ..BEDROCK };

impl Dialect {
    pub(crate) fn rules(self) -> &'static ProviderRules {
        match self {
            Self::OpenAiChat => &OPENAI,
            Self::OpenAiResponses => &RESPONSES,
            Self::OpenRouter => &OPENROUTER,
            Self::Anthropic => &ANTHROPIC,
            Self::Gemini => &GEMINI_RULES,
            Self::Bedrock => &BEDROCK,
            Self::Mcp => &MCP,
        }
    }
}

impl NameRule {
    /// Allows letters, digits, `_` and the given signs.
    const fn new(longest: usize, signs: &str, starts_with_letter: bool) -> Self {
        let mut taken = [false; 256];
        let mut at = 0;
        while at < 128 {
            taken[at] = (at as u8).is_ascii_alphanumeric() || at as u8 == b'_';
            at += 1;
        }
        at = 0;
        while at < signs.len() {
            taken[signs.as_bytes()[at] as usize] = true;
            at += 1;
        }
        Self { longest, taken, starts_with_letter }
    }

    /// Returns `true` if the name can be sent unchanged.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let starts = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
        name.len() <= self.longest
            && name.as_bytes().first().is_some_and(|first| !self.starts_with_letter || starts(first))
            && name.bytes().all(|byte| self.takes_byte(byte))
    }

    pub(crate) fn takes_char(&self, c: char) -> bool {
        u8::try_from(c).is_ok_and(|byte| self.takes_byte(byte))
    }

    /// Returns `true` for an allowed byte. No provider accepts non-ASCII names.
    pub(crate) fn takes_byte(&self, byte: u8) -> bool {
        self.taken[byte as usize]
    }
}
