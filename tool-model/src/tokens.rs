//! Token estimates for tools.

use crate::{ToolDefinition, canonical};

/// The tokens that a provider adds per tool: keys, brackets, separators.
const AROUND_A_TOOL: usize = 12;

/// Estimates the tokens that a tool costs each time it is offered: its name, its description and the compact schema of
/// its arguments.
///
/// A rule of thumb for comparing tools and sets of tools. The tokenizers of providers differ from each other by more
/// than this estimate differs from them. It counts one token per six letters of a word, per three digits, per two
/// consecutive signs and per non-ASCII character, each rounded up. Spaces count as part of the following word.
///
/// ```
/// use tool_model::{ToolDefinition, estimate_tokens};
///
/// let mut tool = ToolDefinition::default();
/// let empty = estimate_tokens("system.uptime", &tool);
/// tool.description = "How long the machine has been up.".to_owned();
/// assert_eq!(estimate_tokens("system.uptime", &tool), empty + 9);
/// ```
#[must_use]
pub fn estimate_tokens(name: &str, tool: &ToolDefinition) -> usize {
    AROUND_A_TOOL + text_tokens(name) + text_tokens(&tool.description) + text_tokens(&canonical(&tool.parameters()))
}

#[derive(Clone, Copy, PartialEq)]
enum CharClass {
    Letter,
    Digit,
    Sign,
    Space,
    Other,
}

impl CharClass {
    fn from_char(c: char) -> Self {
        match c {
            _ if c.is_ascii_alphabetic() => Self::Letter,
            _ if c.is_ascii_digit() => Self::Digit,
            _ if c.is_ascii_whitespace() => Self::Space,
            _ if c.is_ascii() => Self::Sign,
            _ => Self::Other,
        }
    }

    /// Returns the tokens of a run of characters.
    fn tokens(self, run: usize) -> usize {
        match self {
            Self::Letter => run.div_ceil(6),
            Self::Digit => run.div_ceil(3),
            Self::Sign => run.div_ceil(2),
            Self::Space => 0,
            Self::Other => run,
        }
    }
}

fn text_tokens(text: &str) -> usize {
    let classes: Vec<CharClass> = text.chars().map(CharClass::from_char).collect();
    classes.chunk_by(|a, b| a == b).map(|run| run[0].tokens(run.len())).sum()
}
