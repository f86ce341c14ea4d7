//! What servers said of their tools when somebody last agreed, and what has changed since.
//!
//! A server can describe a tool in one way today and in another tomorrow. What a model reads there it tends to follow, so
//! a description that changes is a matter for a person.

mod lock;
mod warning;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::Tool;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use lock::Lock;
pub use warning::Warning;
pub(crate) use warning::warnings;

/// Why a tool is not offered until somebody agrees.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Held {
    /// It is not what it was: the difference between what was agreed to and what the server says now.
    Changed(String),
    /// It has come to a server whose tools were pinned.
    New,
    /// It has [warnings](crate::ToolStatus::warnings).
    Suspicious,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(difference) => write!(f, "it has changed since it was approved:\n{difference}"),
            Self::New => f.write_str("it has come since the server's tools were pinned"),
            Self::Suspicious => f.write_str("something in its description is suspicious; see its warnings"),
        }
    }
}

/// The lock file cannot be used.
#[derive(Clone, PartialEq, Eq)]
pub struct PinError {
    path: PathBuf,
    message: String,
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

/// As it is displayed: `main` prints errors in this way.
impl fmt::Debug for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PinError {}

/// Why a tool that was held is not offered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApproveError {
    /// No server has a tool of that name.
    Unknown,
    /// It is not what was seen any more.
    Changed,
    /// That somebody has agreed cannot be written down.
    Pins(PinError),
}

impl fmt::Display for ApproveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("no server has a tool of that name"),
            Self::Changed => f.write_str("the tool has changed since it was looked at; look at it again"),
            Self::Pins(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ApproveError {}

impl From<PinError> for ApproveError {
    fn from(error: PinError) -> Self {
        Self::Pins(error)
    }
}

/// The pinned tools of all servers, in a file.
pub(crate) struct Pins {
    path: PathBuf,
    lock: Mutex<Lock>,
}

impl Pins {
    /// Reads the file; one that is not there yet is empty.
    pub(crate) fn open(path: &Path) -> Result<Self, PinError> {
        let error = |message: String| PinError { path: path.to_owned(), message };
        let lock = match std::fs::read_to_string(path) {
            Ok(text) => Lock::from_json(&text).map_err(error)?,
            Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Lock::default(),
            Err(unreadable) => return Err(error(format!("it cannot be read: {unreadable}"))),
        };
        Ok(Self { path: path.to_owned(), lock: Mutex::new(lock) })
    }

    fn lock(&self) -> MutexGuard<'_, Lock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether each of these tools of a server is held, and why. The tools of a server that was never seen are pinned
    /// now, those with warnings aside: nobody has agreed to them yet, but the server was chosen, and they cannot change
    /// from here on.
    pub(crate) fn held<'a>(
        &self,
        server: &str,
        tools: impl Iterator<Item = (&'a Tool, bool)>,
    ) -> Result<Vec<Option<Held>>, PinError> {
        let mut lock = self.lock();
        let mut first = (!lock.knows(server)).then(|| lock.clone());
        let held = tools.map(|(tool, suspicious)| match lock.get(server, &tool.name) {
            Some(pinned) if pinned.fingerprint == fingerprint(tool) => None,
            Some(pinned) => Some(Held::Changed(difference(&pinned.says, &said(tool)))),
            None if suspicious => Some(Held::Suspicious),
            None => match &mut first {
                Some(next) => {
                    next.pin(server, &tool.name, fingerprint(tool), said(tool));
                    None
                }
                None => Some(Held::New),
            },
        });
        let held = held.collect();
        if let Some(mut next) = first {
            next.pin_server(server);
            self.replace(&mut lock, next)?;
        }
        Ok(held)
    }

    /// Agrees to a tool as it is now.
    pub(crate) fn approve(&self, server: &str, tool: &Tool) -> Result<(), PinError> {
        let mut lock = self.lock();
        let mut next = lock.clone();
        next.pin(server, &tool.name, fingerprint(tool), said(tool));
        self.replace(&mut lock, next)
    }

    /// What is not written down does not hold: another process would not know of it.
    fn replace(&self, lock: &mut Lock, next: Lock) -> Result<(), PinError> {
        let error = |error| PinError { path: self.path.clone(), message: format!("it cannot be written: {error}") };
        tool_model::replace_file(&self.path, tool_model::to_pretty(&next)).map_err(error)?;
        *lock = next;
        Ok(())
    }
}

/// What a model is told of a tool, and what we decide by.
pub(crate) fn said(tool: &Tool) -> Value {
    json!({
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "annotations": tool.annotations,
    })
}

/// A fingerprint of what is said of a tool. Equal words in another order have the same.
pub(crate) fn fingerprint(tool: &Tool) -> String {
    let hash = Sha256::digest(tool_model::canonical(&said(tool)));
    hash.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// The difference between two descriptions, line by line. What does not show is escaped.
fn difference(old: &Value, new: &Value) -> String {
    let text = |value: &Value| warning::visible(&tool_model::to_pretty(&sorted(value)));
    let (old, new) = (text(old), text(new));
    let lines = similar::TextDiff::from_lines(&old, &new);
    lines.unified_diff().context_radius(2).header("approved", "now").to_string()
}

/// The same value with its keys sorted, whatever serde_json does with them.
fn sorted(value: &Value) -> Value {
    serde_json::from_str(&tool_model::canonical(value)).unwrap_or(Value::Null)
}
