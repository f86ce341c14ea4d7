//! What a dialogue is held on.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::editor;

/// A terminal, or what stands in for one in a test.
pub(super) trait Screen: Send + 'static {
    /// Whether there is a person to ask.
    fn is_terminal(&self) -> bool;

    /// Whether colours can be shown.
    fn has_colours(&self) -> bool;

    fn show(&mut self, text: &str) -> io::Result<()>;

    /// A line with its line break, or what came before the input ended.
    fn read_line(&mut self) -> io::Result<String>;

    /// Lets the person edit a text; nothing if there is no editor.
    fn edit(&mut self, text: &str) -> Option<io::Result<String>>;

    /// What arrives sooner than this after a question was typed before it could be read.
    fn reading_time(&self) -> Duration {
        Duration::from_millis(200)
    }
}

/// Standard error and standard input.
pub(super) struct Console;

impl Screen for Console {
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
