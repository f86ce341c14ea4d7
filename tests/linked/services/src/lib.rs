//! Services in a crate of their own, with their manifest committed beside `Cargo.toml`.

use tool_runtime::{tool, tool_class};

/// Greets.
pub struct GreetService;

#[tool_class]
impl GreetService {
    /// Greet someone.
    ///
    /// # Arguments
    /// * `name` - Whom to greet.
    #[tool(read_only)]
    pub fn hello(name: &str) -> String {
        format!("Hello, {name}!")
    }

    /// Wave a number of times.
    pub fn wave(#[arg(default = 1, max = 9)] times: u8) -> String {
        "o/ ".repeat(times.into()).trim_end().to_owned()
    }
}
