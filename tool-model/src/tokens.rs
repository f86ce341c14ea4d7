//! How much of a model's context a tool takes.

use crate::{ToolDefinition, canonical};

/// What a provider adds around each tool: keys, brackets, separators.
const AROUND_A_TOOL: usize = 12;

/// About how many tokens a tool costs each time it is offered: its name, its description and the compact text of its
/// arguments' schema.
///
/// A rule of thumb, for comparing tools and for seeing what a set of them costs. Providers' tokenizers differ from each
/// other by more than this differs from them. It counts, over the text: a token for every six letters of a word begun,
/// for every three digits, for every two signs in a row, and for every character that is not ASCII; spaces belong to
/// the word that follows.
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
    AROUND_A_TOOL + of_text(name) + of_text(&tool.description) + of_text(&canonical(&tool.parameters()))
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Letter,
    Digit,
    Sign,
    Space,
    Other,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            _ if c.is_ascii_alphabetic() => Self::Letter,
            _ if c.is_ascii_digit() => Self::Digit,
            _ if c.is_ascii_whitespace() => Self::Space,
            _ if c.is_ascii() => Self::Sign,
            _ => Self::Other,
        }
    }

    /// How many characters of a run make a token.
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

fn of_text(text: &str) -> usize {
    let classes: Vec<Class> = text.chars().map(Class::of).collect();
    classes.chunk_by(|a, b| a == b).map(|run| run[0].tokens(run.len())).sum()
}
