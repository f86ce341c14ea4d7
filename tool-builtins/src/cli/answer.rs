//! From results to lines.

use serde::Serialize;
use serde_json::{Value, json};
use tool_runtime::{ErrorKind, Metadata, ToolError, ToolResult};

use super::request::Malformed;

/// One line of the output, with its keys in this order.
#[derive(Debug, Serialize)]
pub struct Answer {
    id: Option<Value>,
    success: bool,
    output: String,
    error: Option<Value>,
    metadata: Metadata,
    #[serde(skip)]
    is_aborted: bool,
}

impl Answer {
    /// The result of a call.
    pub fn new(id: Option<Value>, result: ToolResult) -> Self {
        let ToolResult { success, output, error, metadata, .. } = result;
        let is_aborted = error.as_ref().is_some_and(|error| error.kind == ErrorKind::Aborted);
        Self { id, success, output, error: error.as_ref().map(written), metadata, is_aborted }
    }

    /// What a line is answered that is no call.
    pub fn malformed(malformed: &Malformed) -> Self {
        let output = malformed.to_string();
        Self {
            id: malformed.id.clone(),
            success: false,
            error: Some(json!({"kind": "malformed_call", "message": output})),
            output,
            metadata: Metadata::default(),
            is_aborted: false,
        }
    }

    /// Whether somebody does not want this call nor any other.
    pub fn stops(&self) -> bool {
        self.is_aborted
    }

    /// As one line.
    pub fn to_line(&self) -> String {
        let line = serde_json::to_string(self);
        line.unwrap_or_else(|error| json!({"success": false, "output": error.to_string()}).to_string()) + "\n"
    }
}

fn written(error: &ToolError) -> Value {
    serde_json::to_value(error).unwrap_or_else(|_| Value::from(error.message.clone()))
}
