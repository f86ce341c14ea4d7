//! From lines to calls.

use std::fmt;
use std::io::{self, BufRead, Read};

use serde::Deserialize;
use serde_json::Value;
use tool_runtime::ToolCall;

/// A call as it stands on a line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    name: String,
    #[serde(default)]
    arguments: Option<Value>,
    /// Anything by which the caller knows its call again.
    #[serde(default)]
    pub id: Option<Value>,
}

impl Request {
    /// The call. Arguments that are a text are taken as a model wrote them.
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

/// A line that is no call.
#[derive(Debug)]
pub struct Malformed {
    number: u64,
    what: String,
    /// What the line gives as id, if that much of it can be read.
    pub id: Option<Value>,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line {} is no call: {}. Write {{\"name\": .., \"arguments\": {{..}}}}.", self.number, self.what)
    }
}

/// The longest line that is read.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The calls of the standard input. It is not locked between them: questions are answered there too.
#[derive(Debug, Default)]
pub struct Lines {
    number: u64,
}

impl Iterator for Lines {
    type Item = io::Result<Result<Request, Malformed>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.number += 1;
            let mut line = Vec::new();
            let mut input = io::stdin().lock();
            match (&mut input).take(LONGEST).read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) if line.len() as u64 == LONGEST && !line.ends_with(b"\n") => {
                    return Some(
                        skip_line(&mut input).map(|()| Err(self.malformed("it is too long".to_owned(), None))),
                    );
                }
                Ok(_) if line.trim_ascii().is_empty() => {}
                Ok(_) => return Some(Ok(self.read(&line))),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Lines {
    fn read(&self, line: &[u8]) -> Result<Request, Malformed> {
        serde_json::from_slice(line).map_err(|error| {
            let id = serde_json::from_slice::<Value>(line).ok().and_then(|value| value.get("id").cloned());
            self.malformed(error.to_string(), id)
        })
    }

    fn malformed(&self, what: String, id: Option<Value>) -> Malformed {
        Malformed { number: self.number, what, id }
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
