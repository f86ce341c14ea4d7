//! Commands of the chat.

use tool_agent::Mode;

pub const HELP: &str = "\
/plan        the model has no tools and describes a plan
/plan read   the model has read-only tools and describes a plan
/build       the model has all tools and asks before it changes anything
/tools       list the tools
/servers     show the MCP servers and their problems
/reload      read the MCP files and the plugin directory again
/history     show the conversation so far
/again       continue after a response that was stopped or failed
/new         start a new conversation
/quit        leave (or press Ctrl-D)
Ctrl-C stops a response. Answer a question with y, n (optionally with a reason), a (abort: leaves with
exit code 130) or e (edit).";

pub enum Command {
    Help,
    Tools,
    Servers,
    Reload,
    Mode(Mode),
    History,
    Again,
    New,
    Quit,
}

impl Command {
    /// Parses a command. Returns `None` if the line is for the model.
    pub fn parse(line: &str) -> Result<Option<Self>, String> {
        let Some(command) = line.strip_prefix('/') else { return Ok(None) };
        let words: Vec<&str> = command.split_whitespace().collect();
        // A path, as in `/etc/hosts says what?`.
        if words.first().is_none_or(|word| word.contains('/')) {
            return Ok(None);
        }
        Ok(Some(match words.as_slice() {
            ["help" | "?"] => Self::Help,
            ["tools"] => Self::Tools,
            ["servers"] => Self::Servers,
            ["reload"] => Self::Reload,
            ["plan"] => Self::Mode(Mode::Plan),
            ["plan", "read"] => Self::Mode(Mode::PlanReading),
            ["build"] => Self::Mode(Mode::Build),
            ["history"] => Self::History,
            ["again"] => Self::Again,
            ["new"] => Self::New,
            ["quit" | "exit"] => Self::Quit,
            _ => return Err(format!("Unknown command `{line}`. Type /help for a list.")),
        }))
    }
}
