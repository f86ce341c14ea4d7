//! The providers' rules, as data.

use crate::Dialect;
use crate::schema::{ANTHROPIC_STRICT, GEMINI, OPENAI_STRICT, PORTABLE, Profile};

/// What one provider takes.
pub(crate) struct Rules {
    /// Who it is, in a sentence.
    pub(crate) title: &'static str,
    pub(crate) tool_names: NameRule,
    /// What the arguments themselves may be called; what is inside of them has the names it has.
    pub(crate) argument_names: Option<NameRule>,
    pub(crate) most_tools: Option<usize>,
    pub(crate) schemas: &'static Profile,
    pub(crate) strict: Option<Strict>,
    /// Whether a tool needs a description.
    pub(crate) described: bool,
}

/// Which names are taken.
pub(crate) struct NameRule {
    pub(crate) longest: usize,
    /// The bytes that are taken.
    taken: [bool; 256],
    /// Whether it has to start with a letter or `_`.
    pub(crate) starts_with_letter: bool,
}

/// A strict mode.
pub(crate) struct Strict {
    pub(crate) schemas: &'static Profile,
    /// What all strict tools of a request may have together.
    pub(crate) budget: Option<Budget>,
}

/// What all strict tools of a request may have together.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) tools: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// The name that everyone takes.
const PORTABLE_NAME: NameRule = NameRule::new(64, "-", true);

const OPENAI: Rules = Rules {
    title: "OpenAI",
    tool_names: PORTABLE_NAME,
    argument_names: None,
    most_tools: Some(128),
    schemas: &PORTABLE,
    strict: Some(Strict { schemas: &OPENAI_STRICT, budget: None }),
    described: false,
};

const RESPONSES: Rules = Rules { tool_names: NameRule { longest: 128, ..PORTABLE_NAME }, ..OPENAI };

const OPENROUTER: Rules = Rules { title: "OpenRouter", ..OPENAI };

/// What Claude's strict mode takes, wherever it runs.
const CLAUDE_STRICT: Strict =
    Strict { schemas: &ANTHROPIC_STRICT, budget: Some(Budget { tools: 20, optional: 24, unions: 16 }) };

const ANTHROPIC: Rules = Rules {
    title: "Anthropic",
    argument_names: Some(NameRule::new(64, "-.", false)),
    most_tools: None,
    strict: Some(CLAUDE_STRICT),
    ..OPENAI
};

const GEMINI_RULES: Rules = Rules {
    title: "Gemini",
    // Newer models take 128 characters, older ones 64.
    tool_names: NameRule::new(64, "-.:", true),
    argument_names: Some(NameRule::new(64, "", true)),
    most_tools: None,
    schemas: &GEMINI,
    strict: None,
    described: true,
};

const BEDROCK: Rules = Rules {
    title: "Bedrock",
    tool_names: PORTABLE_NAME,
    argument_names: None,
    most_tools: None,
    schemas: &PORTABLE,
    strict: Some(CLAUDE_STRICT),
    described: false,
};

const MCP: Rules = Rules { title: "MCP", tool_names: NameRule::new(128, "-.", false), strict: None, ..BEDROCK };

impl Dialect {
    pub(crate) fn rules(self) -> &'static Rules {
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
    /// Letters, digits, `_` and some signs.
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

    /// Whether the name can be sent as it is.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let starts = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
        name.len() <= self.longest
            && name.as_bytes().first().is_some_and(|first| !self.starts_with_letter || starts(first))
            && name.bytes().all(|byte| self.takes_byte(byte))
    }

    pub(crate) fn takes_char(&self, c: char) -> bool {
        u8::try_from(c).is_ok_and(|byte| self.takes_byte(byte))
    }

    /// Nothing but ASCII is taken anywhere.
    pub(crate) fn takes_byte(&self, byte: u8) -> bool {
        self.taken[byte as usize]
    }
}
