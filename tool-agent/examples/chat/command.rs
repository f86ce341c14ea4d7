//! What is said to the program and not to the model.

use tool_agent::Mode;

pub const HELP: &str = "\
/plan        the model has no tools, and says what it would do
/plan read   it has the tools that change nothing
/build       it has all tools, and asks before it changes anything
/tools       which tools there are
/history     what was said so far
/again       goes on where an answer was stopped or has failed
/new         begins a new conversation
/quit        leaves, as Ctrl-D does
Ctrl-C stops an answer. A question is answered with y, n (a reason may follow), a (stop everything) or e (edit).";

pub enum Command {
    Help,
    Tools,
    Mode(Mode),
    History,
    Again,
    New,
    Quit,
}

impl Command {
    /// The command in a line; nothing in one that is for the model.
    pub fn of(line: &str) -> Result<Option<Self>, String> {
        let Some(command) = line.strip_prefix('/') else { return Ok(None) };
        let words: Vec<&str> = command.split_whitespace().collect();
        // A path, as in `/etc/hosts says what?`.
        if words.first().is_none_or(|word| word.contains('/')) {
            return Ok(None);
        }
        Ok(Some(match words.as_slice() {
            ["help" | "?"] => Self::Help,
            ["tools"] => Self::Tools,
            ["plan"] => Self::Mode(Mode::Plan),
            ["plan", "read"] => Self::Mode(Mode::PlanReading),
            ["build"] => Self::Mode(Mode::Build),
            ["history"] => Self::History,
            ["again"] => Self::Again,
            ["new"] => Self::New,
            ["quit" | "exit"] => Self::Quit,
            _ => return Err(format!("There is no `{line}`. /help says what there is.")),
        }))
    }
}
