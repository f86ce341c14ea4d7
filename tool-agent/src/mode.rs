//! What the model may do.

use serde::{Deserialize, Serialize};
use tool_runtime::{Dispatcher, Selection};

/// What the model of a conversation may do. It can be changed between turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// It has all tools, and does what it is asked for.
    #[default]
    Build,
    /// It has no tools, and says what it would do.
    Plan,
    /// It has the tools that are `read_only`, looks around, and says what it would do.
    PlanReading,
}

/// In the order of their places.
const MODES: [Mode; 3] = [Mode::Build, Mode::Plan, Mode::PlanReading];

impl Mode {
    /// All modes.
    pub const ALL: &[Self] = &MODES;

    /// The mode as one word, as it is serialised.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Plan => "plan",
            Self::PlanReading => "plan_reading",
        }
    }

    /// The mode that a word stands for.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        MODES.into_iter().find(|mode| mode.as_str() == word)
    }

    /// What the model is told, unless the application says it in other words.
    fn prompt(self) -> &'static str {
        match self {
            Self::Build => "Use the tools to do what you are asked for, and say what you have done.",
            Self::Plan => {
                "Plan only: explain step by step what you would do. You have no tools now, and nothing is changed."
            }
            Self::PlanReading => {
                "Plan only: look around with the tools, which change nothing, and explain step by step what you would do."
            }
        }
    }
}

/// What the application says in each mode instead of our words.
pub(crate) type Prompts = [Option<String>; MODES.len()];

/// What each mode means for one agent.
pub(crate) struct Modes {
    /// In the order of [`MODES`].
    modes: [Meaning; MODES.len()],
}

pub(crate) struct Meaning {
    pub(crate) system: String,
    /// What the model's calls go through. It has no tools where the model is sent none: a call that a model makes up
    /// is answered like any other that names no tool.
    pub(crate) tools: Dispatcher,
    pub(crate) are_tools_sent: bool,
}

impl Modes {
    pub(crate) fn new(tools: &Dispatcher, system: &str, prompts: &Prompts) -> Self {
        let meaning = |mode: Mode| {
            let prompt = prompts[mode as usize].as_deref().unwrap_or(mode.prompt());
            let separator = if system.is_empty() || prompt.is_empty() { "" } else { "\n\n" };
            let tools = match mode {
                Mode::Build => tools.clone(),
                Mode::Plan => selected(tools, Selection::new().predicate(|_, _| false)),
                Mode::PlanReading => selected(tools, Selection::new().read_only(true)),
            };
            Meaning { system: format!("{system}{separator}{prompt}"), tools, are_tools_sent: mode != Mode::Plan }
        };
        Self { modes: MODES.map(meaning) }
    }

    pub(crate) fn of(&self, mode: Mode) -> &Meaning {
        &self.modes[mode as usize]
    }
}

/// A selection that names nothing fits any tools.
pub(crate) fn selected(tools: &Dispatcher, selection: Selection) -> Dispatcher {
    tools.select(selection).unwrap_or_else(|error| unreachable!("it names no tool: {error}"))
}

impl Meaning {
    /// The system prompt, if there is anything to say.
    pub(crate) fn system(&self) -> Option<&str> {
        Some(self.system.as_str()).filter(|system| !system.is_empty())
    }

    /// The tools that the model is sent. Providers refuse an empty list.
    pub(crate) fn sent(&self) -> Option<&Dispatcher> {
        Some(&self.tools).filter(|tools| self.are_tools_sent && !tools.definitions().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_has_its_place_and_its_word() {
        for (place, mode) in MODES.into_iter().enumerate() {
            assert_eq!(mode as usize, place);
            assert_eq!(Mode::from_word(mode.as_str()), Some(mode));
            assert_eq!(serde_json::to_value(mode).ok(), Some(mode.as_str().into()));
        }
    }
}
