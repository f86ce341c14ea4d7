//! The line protocol: calls on standard input, results on standard output.

use std::fmt;
use std::io::{self, BufRead, Read};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_runtime::display::excerpt;
use tool_runtime::{ErrorKind, Metadata, ToolCall, ToolError, ToolResult};

/// A call, as read from a line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallLine {
    name: String,
    #[serde(default)]
    arguments: Option<Value>,
    /// Identifies the call to the caller; repeated in its result.
    #[serde(default)]
    pub id: Option<Value>,
}

impl CallLine {
    /// Converts the line into a call. CliArguments given as a string are parsed like the text of a model.
    pub fn into_call(self) -> ToolCall<'static> {
        let call = match self.arguments {
            None | Some(Value::Null) => ToolCall::from_text(self.name, ""),
            Some(Value::String(text)) => ToolCall::from_text(self.name, text),
            Some(arguments) => ToolCall::new(self.name, arguments),
        };
        match self.id {
            None | Some(Value::Null) => call,
            Some(Value::String(id)) => call.id(id),
            Some(id) => call.id(id.to_string()),
        }
    }
}

/// A line that is not a valid call.
#[derive(Debug)]
pub struct MalformedLine {
    number: u64,
    reason: String,
    /// The line's `id`, if it could be read.
    pub id: Option<Value>,
}

impl fmt::Display for MalformedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Line {} is not a call: {}. Expected {{\"name\": .., \"arguments\": {{..}}}}.",
            self.number,
            excerpt(&self.reason)
        )
    }
}

/// The maximum length of a line, in bytes.
const MAX_LINE: u64 = 64 * 1024 * 1024;

/// Iterates over the calls on standard input. Stdin stays unlocked between calls, because approvals are read from it too.
#[derive(Debug, Default)]
pub struct CallLines {
    number: u64,
}

impl Iterator for CallLines {
    type Item = io::Result<Result<CallLine, MalformedLine>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.number += 1;
            let mut line = Vec::new();
            let mut input = io::stdin().lock();
            match (&mut input).take(MAX_LINE).read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") => {
                    return Some(
                        skip_line(&mut input).map(|()| Err(self.malformed("the line is too long".to_owned(), None))),
                    );
                }
                Ok(_) if line.trim_ascii().is_empty() => {}
                Ok(_) => return Some(Ok(self.read(&line))),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl CallLines {
    fn read(&self, line: &[u8]) -> Result<CallLine, MalformedLine> {
        serde_json::from_slice(line).map_err(|error| {
            let id = serde_json::from_slice::<Value>(line).ok().and_then(|value| value.get("id").cloned());
            self.malformed(error.to_string(), id)
        })
    }

    fn malformed(&self, reason: String, id: Option<Value>) -> MalformedLine {
        MalformedLine { number: self.number, reason, id }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (length, is_end) = match buffer.iter().position(|&byte| byte == b'\n') {
            Some(place) => (place + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(length);
        if is_end {
            return Ok(());
        }
    }
}

/// One line of output; the fields are serialized in this order.
#[derive(Debug, Serialize)]
pub struct ResultLine {
    id: Option<Value>,
    success: bool,
    output: String,
    error: Option<Value>,
    metadata: Metadata,
    #[serde(skip)]
    is_aborted: bool,
}

impl ResultLine {
    /// Creates the line for the result of a call.
    pub fn new(id: Option<Value>, result: ToolResult) -> Self {
        let ToolResult { success, output, error, metadata, .. } = result;
        let is_aborted = error.as_ref().is_some_and(|error| error.kind == ErrorKind::Aborted);
        Self { id, success, output, error: error.as_ref().map(error_value), metadata, is_aborted }
    }

    /// Creates the line for input that is not a call.
    pub fn malformed(malformed: &MalformedLine) -> Self {
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

    /// Returns `true` if the user aborted, so that no further call may run.
    pub fn is_aborted(&self) -> bool {
        self.is_aborted
    }

    /// Serializes to one line of JSON.
    pub fn to_line(&self) -> String {
        let line = serde_json::to_string(self);
        line.unwrap_or_else(|error| json!({"success": false, "output": error.to_string()}).to_string()) + "\n"
    }
}

fn error_value(error: &ToolError) -> Value {
    serde_json::to_value(error).unwrap_or_else(|_| Value::from(error.message.clone()))
}
