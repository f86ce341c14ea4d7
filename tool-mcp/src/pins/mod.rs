//! Pins: the tool definitions of remote servers that a user approved, and what has changed since.
//!
//! A server can change the description of a tool at any time, and models tend to follow what they read there. A changed
//! description therefore needs a user's approval.

mod lock_file;
mod warning;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::Tool;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tool_model::{Sorted, canonical, replace_file, to_pretty};

use lock_file::{LockFile, WriteLock};
pub use warning::ToolWarning;
pub(crate) use warning::{escape_invisible, warnings};

/// The reason why a tool is not offered until a user approves it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HoldReason {
    /// The definition has changed: a diff of the approved one and the current one.
    Changed(String),
    /// The tool was added after the server's tools were pinned.
    New,
    /// The definition has [warnings](crate::ToolStatus::warnings).
    Suspicious,
    /// The lock file cannot be used.
    Unknown,
}

impl fmt::Display for HoldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(difference) => write!(f, "the tool has changed since it was approved:\n{difference}"),
            Self::New => f.write_str("the tool was added after the server's tools were pinned"),
            Self::Suspicious => f.write_str("the definition is suspicious; see its warnings"),
            Self::Unknown => f.write_str("the lock file cannot be used, so approvals are unknown"),
        }
    }
}

/// An error of the lock file.
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

/// Same as `Display`, because `main` prints errors with `Debug`.
impl fmt::Debug for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PinError {}

/// The error of [`RemoteServers::approve`](crate::RemoteServers::approve).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApproveError {
    /// No server has a tool of this name.
    Unknown,
    /// The tool has changed since its fingerprint was read.
    Changed,
    /// The approval cannot be written to the lock file.
    Pins(PinError),
}

impl fmt::Display for ApproveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("no server has a tool of this name"),
            Self::Changed => f.write_str("the tool has changed since it was reviewed; review it again"),
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

/// The pinned tools of all servers, in a lock file that several processes may share.
pub(crate) struct Pins {
    path: PathBuf,
    /// The content of the file when it was last readable.
    lock: Mutex<LockFile>,
}

impl Pins {
    /// Opens the lock file. A missing file counts as empty.
    pub(crate) fn open(path: &Path) -> Result<Self, PinError> {
        let pins = Self { path: path.to_owned(), lock: Mutex::default() };
        pins.read(&mut pins.lock())?;
        Ok(pins)
    }

    fn lock(&self) -> MutexGuard<'_, LockFile> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, message: String) -> PinError {
        PinError { path: self.path.clone(), message }
    }

    /// Reads the file again. If it was removed, the pins in memory stay.
    fn read(&self, lock: &mut LockFile) -> Result<(), PinError> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => *lock = LockFile::from_json(&text).map_err(|message| self.error(message))?,
            Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {}
            Err(unreadable) => return Err(self.error(format!("cannot be read: {unreadable}"))),
        }
        Ok(())
    }

    /// Returns the current pins. While another process is rewriting the file, the last readable content counts.
    fn current(&self) -> MutexGuard<'_, LockFile> {
        let mut lock = self.lock();
        if let Err(error) = self.read(&mut lock) {
            tracing::warn!(%error, "using the pins that were last read");
        }
        lock
    }

    /// Changes the pins under the write lock, starting from the file's current content. A change that cannot be written
    /// is discarded: other processes would not see it.
    fn update<T>(&self, change: impl FnOnce(&mut LockFile) -> T) -> Result<T, PinError> {
        let unwritten = |error| self.error(format!("cannot be written: {error}"));
        let mut lock = self.lock();
        let _write_lock = WriteLock::acquire(&self.path).map_err(unwritten)?;
        self.read(&mut lock)?;
        let mut next = lock.clone();
        let changed = change(&mut next);
        replace_file(&self.path, to_pretty(&next)).map_err(unwritten)?;
        *lock = next;
        Ok(changed)
    }

    /// Returns for each tool why it is held, if it is.
    ///
    /// The tools of an unknown server are pinned now, except those with warnings: the operator has chosen the server, and
    /// from here on a change of its tools is noticed.
    pub(crate) fn hold_reasons<'a>(
        &self,
        server: &str,
        tools: impl Iterator<Item = (&'a Tool, bool)>,
    ) -> Result<Vec<Option<HoldReason>>, PinError> {
        {
            let lock = self.current();
            if lock.has_server(server) {
                return Ok(hold_reasons(&lock, server, tools));
            }
        }
        self.update(|lock| {
            if lock.has_server(server) {
                return hold_reasons(lock, server, tools);
            }
            lock.pin_server(server);
            let held = tools.map(|(tool, suspicious)| {
                if suspicious {
                    return Some(HoldReason::Suspicious);
                }
                lock.pin(server, &tool.name, fingerprint(tool), pinned_fields(tool));
                None
            });
            held.collect()
        })
    }

    /// Pins a tool as it is now.
    pub(crate) fn approve(&self, server: &str, tool: &Tool) -> Result<(), PinError> {
        self.update(|lock| lock.pin(server, &tool.name, fingerprint(tool), pinned_fields(tool)))
    }
}

/// Returns for each tool of a known server why it is held, if it is.
fn hold_reasons<'a>(
    lock: &LockFile,
    server: &str,
    tools: impl Iterator<Item = (&'a Tool, bool)>,
) -> Vec<Option<HoldReason>> {
    let held = tools.map(|(tool, suspicious)| match lock.get(server, &tool.name) {
        Some(pinned) if pinned.fingerprint == fingerprint(tool) => None,
        Some(pinned) => Some(HoldReason::Changed(difference(&pinned.fields, &pinned_fields(tool)))),
        None if suspicious => Some(HoldReason::Suspicious),
        None => Some(HoldReason::New),
    });
    held.collect()
}

/// The parts of a definition that a model reads or that decide about calls.
pub(crate) fn pinned_fields(tool: &Tool) -> Value {
    json!({
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "annotations": tool.annotations,
    })
}

/// Returns a hash of the pinned fields, independent of the order of keys.
pub(crate) fn fingerprint(tool: &Tool) -> String {
    let hash = Sha256::digest(canonical(&pinned_fields(tool)));
    hash.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// Returns a line diff of two definitions, with invisible characters escaped.
fn difference(old: &Value, new: &Value) -> String {
    let text = |value: &Value| escape_invisible(&to_pretty(&Sorted(value)));
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

    /// Each thread has its own `Pins`, as separate processes do.
    #[test]
    fn keeps_all_pins_of_concurrent_writers() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/mcp.lock");
        let (writers, tools) = (8, 20);
        std::thread::scope(|threads| {
            for writer in 0..writers {
                let pins = Pins::open(&path).unwrap();
                threads.spawn(move || {
                    for number in 0..tools {
                        let (tool, server) = (tool(format!("tool_{number}")), format!("server_{writer}"));
                        let write = || match number {
                            0 => pins
                                .hold_reasons(&server, [(&tool, false)].into_iter())
                                .map(|held| assert_eq!(held, [None])),
                            _ => pins.approve(&server, &tool),
                        };
                        // On a slow disk the lock may take longer than it is waited for.
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

    /// The file may be removed, or half written by another program. Later approvals are added to the known ones.
    #[test]
    fn keeps_the_known_pins_while_the_file_is_broken() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mcp.lock");
        let pins = Pins::open(&path).unwrap();
        let (one, mut other) = (tool("one".to_owned()), tool("one".to_owned()));
        other.description = Some("Another.".into());
        let is_held = |tool: &Tool| pins.hold_reasons("s", [(tool, false)].into_iter()).unwrap()[0].is_some();
        assert!(!is_held(&one));
        let written = std::fs::read_to_string(&path).unwrap();
        for broken in ["", "{", &written[..written.len() / 2]] {
            std::fs::write(&path, broken).unwrap();
            assert!(is_held(&other) && !is_held(&one), "{broken}");
            assert!(pins.approve("t", &other).is_err(), "a file that is being written is not replaced: {broken}");
            assert!(Pins::open(&path).is_err(), "{broken}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(is_held(&other) && !is_held(&one));
        pins.approve("t", &other).unwrap();
        assert!(is_held(&other) && !is_held(&one), "and again with a file");
        let known = Pins::open(&path).unwrap();
        assert!(known.lock().has_server("s") && known.lock().has_server("t"));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no other file is left");
    }

    /// Its owner may be suspended.
    #[test]
    fn gives_up_on_a_write_lock_that_is_not_released() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mcp.lock");
        let pins = Pins::open(&path).unwrap();
        let write_lock = WriteLock::acquire(&path).unwrap();
        let error = pins.approve("s", &tool("one".to_owned())).unwrap_err().to_string();
        assert!(error.contains("another process is writing to it"), "{error}");
        drop(write_lock);
        pins.approve("s", &tool("one".to_owned())).unwrap();
    }
}
