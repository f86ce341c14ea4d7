//! Agent modes and their prompts.

use serde::{Deserialize, Serialize};
use tool_runtime::{Dispatcher, Selection};

/// The permissions of the model in a conversation. The mode can change between turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// The model has all tools and performs the task.
    #[default]
    Build,
    /// The model has no tools and describes a plan.
    Plan,
    /// The model has the `read_only` tools, explores, and describes a plan.
    PlanReading,
}

/// All modes, indexed by discriminant.
const MODES: [Mode; 3] = [Mode::Build, Mode::Plan, Mode::PlanReading];

impl Mode {
    /// All modes.
    pub const ALL: &[Self] = &MODES;

    /// Returns the serialized name of the mode.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Plan => "plan",
            Self::PlanReading => "plan_reading",
        }
    }

    /// Returns the mode with this serialized name.
    #[must_use]
    pub fn from_name(word: &str) -> Option<Self> {
        MODES.into_iter().find(|mode| mode.as_str() == word)
    }

    /// Returns the default prompt.
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

/// The application's replacements for the default prompts.
pub(crate) type Prompts = [Option<String>; MODES.len()];

/// The modes of one agent.
pub(crate) struct ModeTable {
    /// Indexed like [`MODES`].
    modes: [ModeSettings; MODES.len()],
}

/// The system prompt and tools of a mode.
pub(crate) struct ModeSettings {
    pub(crate) system: String,
    /// The dispatcher for the model's calls. Empty if no tools are sent, so that a call that the model makes up fails
    /// like any other unknown tool.
    pub(crate) tools: Dispatcher,
    pub(crate) are_tools_sent: bool,
}

impl ModeTable {
    pub(crate) fn new(tools: &Dispatcher, system: &str, prompts: &Prompts) -> Self {
        let settings = |mode: Mode| {
            let prompt = prompts[mode as usize].as_deref().unwrap_or(mode.prompt());
            let separator = if system.is_empty() || prompt.is_empty() { "" } else { "\n\n" };
            let tools = match mode {
                Mode::Build => tools.clone(),
                Mode::Plan => selected(tools, Selection::new().predicate(|_, _| false)),
                Mode::PlanReading => selected(tools, Selection::new().read_only(true)),
            };
            ModeSettings { system: format!("{system}{separator}{prompt}"), tools, are_tools_sent: mode != Mode::Plan }
        };
        Self { modes: MODES.map(settings) }
    }

    pub(crate) fn get(&self, mode: Mode) -> &ModeSettings {
        &self.modes[mode as usize]
    }
}

/// Applies a selection that names no tools, which cannot fail.
pub(crate) fn selected(tools: &Dispatcher, selection: Selection) -> Dispatcher {
    tools.select(selection).unwrap_or_else(|error| unreachable!("it names no tool: {error}"))
}

impl ModeSettings {
    /// Returns the system prompt, unless it is empty.
    pub(crate) fn system(&self) -> Option<&str> {
        Some(self.system.as_str()).filter(|system| !system.is_empty())
    }

    /// Returns the tools to send, or `None` instead of an empty list, which providers reject.
    pub(crate) fn sent_tools(&self) -> Option<&Dispatcher> {
        Some(&self.tools).filter(|tools| self.are_tools_sent && !tools.definitions().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_stable_indices_and_names() {
        for (place, mode) in MODES.into_iter().enumerate() {
            assert_eq!(mode as usize, place);
            assert_eq!(Mode::from_name(mode.as_str()), Some(mode));
            assert_eq!(serde_json::to_value(mode).ok(), Some(mode.as_str().into()));
        }
    }
}
