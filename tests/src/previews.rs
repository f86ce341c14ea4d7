//! Tools with a preview.

use std::path::Path;

use tool_runtime::{Effect, tool, tool_class};

use crate::options::Session;

/// Writes files.
pub struct FileService {
    written: u32,
}

#[tool_class(prefix = "previews", per_call)]
impl FileService {
    pub fn new() -> Self {
        Self { written: 0 }
    }

    /// Write a text.
    #[tool(preview = "show_changes")]
    pub fn write(&mut self, path: &Path, text: String, #[arg(default = 1, rename = "copies")] count: u32) -> u32 {
        self.written += count;
        let _ = (path, text);
        self.written
    }

    /// In another order, by other forms, and without what it does not need. It is `pub` and no tool.
    pub fn show_changes(&self, text: &str, _count: u32, path: impl AsRef<Path>) -> Effect {
        let path = Some(path.as_ref().display().to_string());
        Effect::Diff { path, before: self.written.to_string(), after: text.to_owned() }
    }

    /// Run a statement.
    #[tool(preview = "show_statement")]
    pub async fn execute(&self, #[arg(default)] table: String, filter: Option<&str>, session: &Session) -> String {
        format!("{table} {filter:?} {}", session.0)
    }

    async fn show_statement(
        &self,
        session: &Session,
        table: String,
        filter: Option<String>,
        #[inject] number: u64,
    ) -> Result<Effect, String> {
        if table == "users" {
            return Err("nobody deletes users".to_owned());
        }
        let filter = filter.unwrap_or_else(|| session.0.to_owned());
        Ok(Effect::Statement(format!("delete from {table} where {filter} = {number}")))
    }

    /// Run a command, on a thread that may block.
    #[tool(blocking, preview = "show_command")]
    pub fn run(command: String) -> String {
        command
    }

    fn show_command(command: &str) -> Effect {
        Effect::Command(format!("{command} on {}", std::thread::current().name().unwrap_or_default()))
    }

    /// A preview that panics.
    #[tool(preview = "show_panic")]
    pub fn panicking(&self) {}

    fn show_panic(&self) -> Effect {
        panic!("nothing to see")
    }

    /// A preview that takes too long.
    #[tool(preview = "show_slowly", timeout = "50ms")]
    pub async fn slow(&self) {}

    async fn show_slowly(&self) -> Effect {
        std::future::pending().await
    }
}

/// A function with an async preview, by its path.
#[tool(name = "previews.function", preview = "shown::later")]
pub fn function(text: &str, #[inject] number: u64) -> String {
    format!("{text} {number}")
}

/// A function with a preview that can fail.
#[tool(name = "previews.fallible", preview = "shown::checked")]
pub async fn fallible(amount: i32) -> i32 {
    amount
}

mod shown {
    use tool_runtime::Effect;

    pub async fn later(text: &str, number: u64) -> Effect {
        format!("{text} {number} times").into()
    }

    pub fn checked(amount: i32) -> Result<Effect, &'static str> {
        if amount < 0 { Err("less than nothing") } else { Ok("something".into()) }
    }
}
