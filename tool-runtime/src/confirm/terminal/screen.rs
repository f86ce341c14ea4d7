//! The screen of a dialogue.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::editor;

/// A terminal, or its replacement in a test.
pub(super) trait DialogueScreen: Send + 'static {
    /// Returns `true` if a user can be asked.
    fn is_terminal(&self) -> bool;

    /// Returns `true` if the terminal supports colours.
    fn has_colours(&self) -> bool;

    fn show(&mut self, text: &str) -> io::Result<()>;

    /// Reads a line with its line break. Without one, the input ended.
    fn read_line(&mut self) -> io::Result<String>;

    /// Opens a text in the user's editor. Returns `None` if there is none.
    fn edit(&mut self, text: &str) -> Option<io::Result<String>>;

    /// The time a user needs to read a question. Input that arrives sooner is ignored.
    fn reading_time(&self) -> Duration {
        Duration::from_millis(200)
    }
}

/// Standard error and standard input.
pub(super) struct StdioScreen;

impl DialogueScreen for StdioScreen {
    fn is_terminal(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    fn has_colours(&self) -> bool {
        let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let able =
            if cfg!(windows) { set("WT_SESSION") } else { env::var_os("TERM").is_none_or(|term| term != "dumb") };
        able && !set("NO_COLOR")
    }

    fn show(&mut self, text: &str) -> io::Result<()> {
        let mut output = io::stderr().lock();
        output.write_all(text.as_bytes())?;
        output.flush()
    }

    fn read_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        Ok(line)
    }

    fn edit(&mut self, text: &str) -> Option<io::Result<String>> {
        Some(editor::edit(&editor::command()?, text))
    }
}
