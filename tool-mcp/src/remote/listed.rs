//! A tool as its server has listed it, and whether it still is that tool.

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

    /// What a call is told that must not be sent any more. It may have waited for a connection, or for somebody's
    /// consent, while the server was listed again: nobody has agreed to what the tool is now.
    pub(super) fn refusal(&self, server: &str) -> Option<ToolResult> {
        let tool = &self.name;
        let (kind, why) = match *self.standing() {
            Standing::Offered => return None,
            Standing::Held => (
                ErrorKind::Refused,
                format!(
                    "`{tool}` of the server `{server}` is not offered until somebody approves what it says of it now"
                ),
            ),
            Standing::Changed => (
                ErrorKind::Retry,
                format!(
                    "`{tool}` of the server `{server}` has changed since it was called; read again what it does and \
                     what it takes, and call it anew"
                ),
            ),
            Standing::Gone => (ErrorKind::UnknownTool, format!("The server `{server}` has no tool `{tool}` any more")),
        };
        Some(ToolResult::failure(ToolError::new(kind, format!("{why}. It did not run."))))
    }

    /// What is wrong with an answer that is no error, in words.
    pub(super) fn broken_by(&self, is_error: bool, structured: Option<&Value>) -> Option<String> {
        self.promise.as_ref().filter(|_| !is_error)?.broken_by(structured)
    }
}
