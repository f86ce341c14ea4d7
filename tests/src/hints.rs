//! Handlers whose errors say whether a retry would help.

use std::num::ParseIntError;

use tool_runtime::{HandlerError, tool};

/// A crate's own alias.
pub type Hinted<T> = Result<T, HandlerError>;

/// Another error, with nothing to say about a retry.
#[derive(Debug)]
pub struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it broke")
    }
}

impl std::error::Error for Broken {}

/// A number from a text.
#[tool(name = "hints.number")]
pub fn number(text: &str) -> Result<u32, HandlerError> {
    match text {
        "" => Err(HandlerError::retry("give digits")),
        "never" => Err(HandlerError::fatal("there is no such number")),
        _ => Ok(text.parse()?),
    }
}

/// As above, async, by an alias that is not called `Result`.
#[tool(name = "hints.aliased")]
pub async fn aliased(text: String) -> Hinted<String> {
    let number = number(&text)?;
    Ok(format!("number {number}"))
}

/// As above, on a thread that may block.
#[tool(name = "hints.blocking", blocking)]
pub fn blocking(broken: bool) -> Hinted<()> {
    if broken { Err(HandlerError::failed(Broken)) } else { Ok(()) }
}

/// An error that knows nothing of hints beside those that do.
#[tool(name = "hints.plain")]
pub fn plain(text: &str) -> Result<u32, ParseIntError> {
    text.parse()
}
