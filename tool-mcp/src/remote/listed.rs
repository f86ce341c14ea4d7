//! A tool as its server has listed it, and whether it still is that tool.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::Tool;
use serde_json::Value;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use super::promise::Promise;

/// A tool as its server has listed it: what the arguments of its calls were checked against.
pub(super) struct Listed {
    /// The name that the server gives it.
    pub(super) name: String,
    /// What it says of its answers.
    promise: Option<Promise>,
    standing: Mutex<Standing>,
}

/// What became of a tool in the listings that followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// It is offered as it was.
    Offered,
    /// Calls that were checked before must not be sent any more.
    Withheld(Withheld),
}

/// Why a call must not be sent any more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Withheld {
    /// It is not offered until somebody approves it.
    Held,
    /// Another tool has its name: one that is described otherwise.
    Changed,
    /// The server has it no more.
    Gone,
}

impl Listed {
    pub(super) fn new(tool: &Tool) -> Self {
        let output_schema = tool.output_schema.as_ref().map(|schema| Value::Object(schema.as_ref().clone()));
        let promise = output_schema.as_ref().and_then(Promise::of);
        Self { name: tool.name.to_string(), promise, standing: Mutex::new(Standing::Offered) }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stands(&self, standing: Standing) {
        *self.standing() = standing;
    }

    /// Whether a call may still be sent. It may have waited for a connection, for a login, or for somebody's consent,
    /// while the server was listed again: nobody has agreed to what the tool is now.
    pub(super) fn check(&self) -> Result<(), Withheld> {
        match *self.standing() {
            Standing::Offered => Ok(()),
            Standing::Withheld(why) => Err(why),
        }
    }

    /// What is wrong with an answer that is no error, in words.
    pub(super) fn broken_by(&self, is_error: bool, structured: Option<&Value>) -> Option<String> {
        self.promise.as_ref().filter(|_| !is_error)?.broken_by(structured)
    }
}

impl Withheld {
    /// What the call is told.
    pub(super) fn refusal(self, server: &str, tool: &str) -> ToolResult {
        let (kind, why) = match self {
            Self::Held => (
                ErrorKind::Refused,
                format!(
                    "`{tool}` of the server `{server}` is not offered until somebody approves what it says of it now"
                ),
            ),
            Self::Changed => (
                ErrorKind::Retry,
                format!(
                    "`{tool}` of the server `{server}` has changed since it was called; read again what it does and \
                     what it takes, and call it anew"
                ),
            ),
            Self::Gone => (ErrorKind::UnknownTool, format!("The server `{server}` has no tool `{tool}` any more")),
        };
        ToolResult::failure(ToolError::new(kind, format!("{why}. It did not run.")))
    }
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "its tool is held until somebody approves it",
            Self::Changed => "its tool has changed",
            Self::Gone => "its tool is gone",
        })
    }
}

impl std::error::Error for Withheld {}
