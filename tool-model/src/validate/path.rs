//! Paths to values, and values as JSON of a limited length.

use std::fmt;
use std::io;

use serde_json::Value;

use crate::{LONGEST_EXCERPT, shorten};

/// The path to a value: `order.items[2].sku`.
///
/// A property whose name is not an identifier is written `["odd name"]`. The text of a path has at most 200 characters,
/// and `…` behind them if the path is longer: its names may be those of a model.
///
/// ```
/// use tool_model::validate::{PathStep, ValuePath};
///
/// let mut path = ValuePath::new("order");
/// path.steps.extend([PathStep::Property("items".to_owned()), PathStep::Item(2)]);
/// assert_eq!(path.to_string(), "order.items[2]");
/// assert_eq!(path.argument(), Some("order"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValuePath {
    /// The name of the outermost value, such as an argument; empty for a value without a name.
    pub root: String,
    /// The steps from there.
    pub steps: Vec<PathStep>,
}

/// One step of a [`ValuePath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// The property of an object.
    Property(String),
    /// The item of an array.
    Item(usize),
}

impl ValuePath {
    /// Creates the path of an outermost value.
    pub fn new(root: impl Into<String>) -> Self {
        Self { root: root.into(), steps: Vec::new() }
    }

    /// Returns the name of the argument that the value belongs to: the root, or the first property of a root without a
    /// name.
    #[must_use]
    pub fn argument(&self) -> Option<&str> {
        match self.steps.first() {
            _ if !self.root.is_empty() => Some(&self.root),
            Some(PathStep::Property(name)) => Some(name),
            _ => None,
        }
    }

    /// Returns `true` for the value without a name itself.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_empty() && self.steps.is_empty()
    }

    /// Shortens the path to its argument.
    pub fn truncate_to_argument(&mut self) {
        self.steps.truncate(usize::from(self.root.is_empty()));
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.root.clone();
        for (index, step) in self.steps.iter().enumerate() {
            match step {
                PathStep::Item(item) => text.push_str(&format!("[{item}]")),
                PathStep::Property(name) if !is_identifier(name) => text.push_str(&format!("[{}]", quote(name))),
                PathStep::Property(name) if index == 0 && self.root.is_empty() => text.push_str(name),
                PathStep::Property(name) => text.push_str(&format!(".{name}")),
            }
        }
        f.write_str(&shorten(&text, LONGEST_EXCERPT))
    }
}

/// A path under construction, on the stack: most checks never need it.
#[derive(Clone, Copy)]
pub(super) enum PathCursor<'a> {
    Root(&'a str),
    Property(&'a PathCursor<'a>, &'a str),
    Item(&'a PathCursor<'a>, usize),
}

impl PathCursor<'_> {
    pub(super) fn to_path(self) -> ValuePath {
        let (parent, step) = match self {
            Self::Root(root) => return ValuePath::new(root),
            Self::Property(parent, name) => (parent, PathStep::Property(name.to_owned())),
            Self::Item(parent, index) => (parent, PathStep::Item(index)),
        };
        let mut path = parent.to_path();
        path.steps.push(step);
        path
    }
}

pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns a name as a JSON string.
pub(crate) fn quote(name: &str) -> String {
    Value::from(name).to_string()
}

/// Returns the value as compact JSON, cut after `limit` characters.
pub(super) fn shortened(value: &Value, limit: usize) -> String {
    // A character takes at most four bytes of UTF-8, so the limit in characters is reached before the one in bytes.
    let mut prefix = PrefixWriter { bytes: Vec::new(), limit: 4 * (limit + 1) };
    let complete = serde_json::to_writer(&mut prefix, value).is_ok();
    let text = String::from_utf8_lossy(&prefix.bytes);
    match text.char_indices().nth(limit) {
        None if complete => text.into_owned(),
        _ => text.chars().take(limit.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A writer that keeps the first bytes and then fails, so that a huge value is not written in full.
struct PrefixWriter {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for PrefixWriter {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let remaining = self.limit - self.bytes.len();
        if remaining == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = &buffer[..buffer.len().min(remaining)];
        self.bytes.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
