//! Where in a value something is, and how a value is quoted.

use std::fmt;
use std::io;

use serde_json::Value;

/// A place in the value, built on the stack and written only when something is wrong there.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    Start(&'a str),
    Property(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(prefix) => f.write_str(prefix),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
            Self::Property(parent, name) if !is_identifier(name) => write!(f, "{parent}[{}]", quote(name)),
            Self::Property(Self::Start(""), name) => f.write_str(name),
            Self::Property(parent, name) => write!(f, "{parent}.{name}"),
        }
    }
}

pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// A name as a JSON string.
pub(crate) fn quote(name: &str) -> String {
    Value::from(name).to_string()
}

/// The value as compact JSON, cut after `limit` characters.
pub(super) fn shortened(value: &Value, limit: usize) -> String {
    // UTF-8 takes at most four bytes per character, so what is kept is never cut within one.
    let mut start = Start { bytes: Vec::new(), limit: 4 * (limit + 1) };
    let complete = serde_json::to_writer(&mut start, value).is_ok();
    let text = String::from_utf8_lossy(&start.bytes);
    match text.char_indices().nth(limit) {
        None if complete => text.into_owned(),
        _ => text.chars().take(limit.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Keeps only the first bytes, so that a huge value is not written out to be cut.
struct Start {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for Start {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let room = self.limit - self.bytes.len();
        if room == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = &buffer[..buffer.len().min(room)];
        self.bytes.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
