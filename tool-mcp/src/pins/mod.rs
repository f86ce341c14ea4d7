//! What servers said of their tools when somebody last agreed, and what has changed since.
//!
//! A server can describe a tool in one way today and in another tomorrow. What a model reads there it tends to follow, so
//! a description that changes is a matter for a person.

mod lock;
mod turn;
mod warning;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::Tool;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tool_model::{Sorted, canonical, replace_file, to_pretty};

use lock::Lock;
use turn::Turn;
pub use warning::Warning;
pub(crate) use warning::{visible, warnings};

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
    /// The lock file cannot be used.
    Unknown,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(difference) => write!(f, "it has changed since it was approved:\n{difference}"),
            Self::New => f.write_str("it has come since the server's tools were pinned"),
            Self::Suspicious => f.write_str("something in its description is suspicious; see its warnings"),
            Self::Unknown => f.write_str("what was approved is not known"),
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

/// The pinned tools of all servers, in a file that other processes may write to, too.
pub(crate) struct Pins {
    path: PathBuf,
    /// What the file said when it could last be read.
    lock: Mutex<Lock>,
}

impl Pins {
    /// Reads the file; one that is not there yet is empty.
    pub(crate) fn open(path: &Path) -> Result<Self, PinError> {
        let pins = Self { path: path.to_owned(), lock: Mutex::default() };
        pins.read(&mut pins.lock())?;
        Ok(pins)
    }

    fn lock(&self) -> MutexGuard<'_, Lock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, message: String) -> PinError {
        PinError { path: self.path.clone(), message }
    }

    /// Reads what the file says now. That it was taken away has not made anything different.
    fn read(&self, lock: &mut Lock) -> Result<(), PinError> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => *lock = Lock::from_json(&text).map_err(|message| self.error(message))?,
            Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {}
            Err(unreadable) => return Err(self.error(format!("it cannot be read: {unreadable}"))),
        }
        Ok(())
    }

    /// What is agreed to. Somebody may just be writing the file, and not in one step as we do: what is known holds then.
    fn known(&self) -> MutexGuard<'_, Lock> {
        let mut lock = self.lock();
        if let Err(error) = self.read(&mut lock) {
            tracing::warn!(%error, "the tools of servers are compared with what was agreed to before");
        }
        lock
    }

    /// Changes what is agreed to, by what it is when nobody else can change it. What is not written down does not hold:
    /// another process would not know of it.
    fn change<T>(&self, change: impl FnOnce(&mut Lock) -> T) -> Result<T, PinError> {
        let unwritten = |error| self.error(format!("it cannot be written: {error}"));
        let mut lock = self.lock();
        let _turn = Turn::take(&self.path).map_err(unwritten)?;
        self.read(&mut lock)?;
        let mut next = lock.clone();
        let changed = change(&mut next);
        replace_file(&self.path, to_pretty(&next)).map_err(unwritten)?;
        *lock = next;
        Ok(changed)
    }

    /// Whether each of these tools of a server is held, and why. The tools of a server that was never seen are pinned
    /// now, those with warnings aside: nobody has agreed to them yet, but the server was chosen, and they cannot change
    /// from here on.
    pub(crate) fn held<'a>(
        &self,
        server: &str,
        tools: impl Iterator<Item = (&'a Tool, bool)>,
    ) -> Result<Vec<Option<Held>>, PinError> {
        {
            let lock = self.known();
            if lock.knows(server) {
                return Ok(held(&lock, server, tools));
            }
        }
        self.change(|lock| {
            if lock.knows(server) {
                return held(lock, server, tools);
            }
            lock.pin_server(server);
            let held = tools.map(|(tool, suspicious)| {
                if suspicious {
                    return Some(Held::Suspicious);
                }
                lock.pin(server, &tool.name, fingerprint(tool), said(tool));
                None
            });
            held.collect()
        })
    }

    /// Agrees to a tool as it is now.
    pub(crate) fn approve(&self, server: &str, tool: &Tool) -> Result<(), PinError> {
        self.change(|lock| lock.pin(server, &tool.name, fingerprint(tool), said(tool)))
    }
}

/// Whether each of these tools is held of a server that is known.
fn held<'a>(lock: &Lock, server: &str, tools: impl Iterator<Item = (&'a Tool, bool)>) -> Vec<Option<Held>> {
    let held = tools.map(|(tool, suspicious)| match lock.get(server, &tool.name) {
        Some(pinned) if pinned.fingerprint == fingerprint(tool) => None,
        Some(pinned) => Some(Held::Changed(difference(&pinned.says, &said(tool)))),
        None if suspicious => Some(Held::Suspicious),
        None => Some(Held::New),
    });
    held.collect()
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
    let hash = Sha256::digest(canonical(&said(tool)));
    hash.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// The difference between two descriptions, line by line. What does not show is escaped.
fn difference(old: &Value, new: &Value) -> String {
    let text = |value: &Value| visible(&to_pretty(&Sorted(value)));
    let (old, new) = (text(old), text(new));
    let lines = similar::TextDiff::from_lines(&old, &new);
    lines.unified_diff().context_radius(2).header("approved", "now").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: String) -> Tool {
        serde_json::from_value(json!({"name": name, "inputSchema": {"type": "object"}})).unwrap()
    }

    /// Each has its own view of the file, as processes have.
    #[test]
    fn what_many_write_at_once_is_all_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/mcp.lock");
        let (writers, tools) = (8, 20);
        std::thread::scope(|threads| {
            for writer in 0..writers {
                let pins = Pins::open(&path).unwrap();
                threads.spawn(move || {
                    for number in 0..tools {
                        let (tool, server) = (tool(format!("tool_{number}")), format!("server_{writer}"));
                        let write = || match number {
                            0 => pins.held(&server, [(&tool, false)].into_iter()).map(|held| assert_eq!(held, [None])),
                            _ => pins.approve(&server, &tool),
                        };
                        // On a slow disk a turn may take longer to come than it is waited for.
                        while write().is_err() {}
                    }
                });
            }
        });
        let pins = Pins::open(&path).unwrap();
        let lock = pins.lock();
        for (writer, number) in (0..writers).flat_map(|writer| (0..tools).map(move |number| (writer, number))) {
            let pinned = lock.get(&format!("server_{writer}"), &format!("tool_{number}"));
            assert!(pinned.is_some(), "server {writer}, tool {number}");
        }
    }

    /// Neither one that is taken away, nor one that is just being written. What is agreed to then is added to the rest.
    #[test]
    fn a_file_that_is_not_whole_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.lock");
        let pins = Pins::open(&path).unwrap();
        let (one, mut other) = (tool("one".to_owned()), tool("one".to_owned()));
        other.description = Some("Another.".into());
        let is_held = |tool: &Tool| pins.held("s", [(tool, false)].into_iter()).unwrap()[0].is_some();
        assert!(!is_held(&one));
        let written = std::fs::read_to_string(&path).unwrap();
        for broken in ["", "{", &written[..written.len() / 2]] {
            std::fs::write(&path, broken).unwrap();
            assert!(is_held(&other) && !is_held(&one), "{broken}");
            assert!(pins.approve("t", &other).is_err(), "what somebody writes is not written over: {broken}");
            assert!(Pins::open(&path).is_err(), "{broken}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(is_held(&other) && !is_held(&one));
        pins.approve("t", &other).unwrap();
        assert!(is_held(&other) && !is_held(&one), "and again with a file");
        let known = Pins::open(&path).unwrap();
        assert!(known.lock().knows("s") && known.lock().knows("t"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    /// Whoever has the turn may have been stopped.
    #[test]
    fn a_turn_that_does_not_come_is_not_waited_for_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.lock");
        let pins = Pins::open(&path).unwrap();
        let turn = Turn::take(&path).unwrap();
        let error = pins.approve("s", &tool("one".to_owned())).unwrap_err().to_string();
        assert!(error.contains("another process is writing to it"), "{error}");
        drop(turn);
        pins.approve("s", &tool("one".to_owned())).unwrap();
    }
}
