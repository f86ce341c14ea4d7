//! The lock file with the pinned tools, and the lock that serializes its writers.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use tool_model::Sorted;

const VERSION: u32 = 1;

/// The content of the lock file. Equal tools serialize to equal bytes.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct LockFile {
    version: u32,
    servers: BTreeMap<String, BTreeMap<String, PinnedTool>>,
}

/// A tool as it was approved.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct PinnedTool {
    pub(super) fingerprint: String,
    /// The pinned fields, for the diff that a user sees.
    #[serde(rename = "says", serialize_with = "sorted")]
    pub(super) fields: Value,
}

fn sorted<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    Sorted(value).serialize(serializer)
}

impl Default for LockFile {
    fn default() -> Self {
        Self { version: VERSION, servers: BTreeMap::new() }
    }
}

impl LockFile {
    pub(super) fn from_json(text: &str) -> Result<Self, String> {
        let lock: Self = serde_json::from_str(text).map_err(|error| format!("not a lock file: {error}"))?;
        match lock.version {
            VERSION => Ok(lock),
            other => Err(format!("version {other} is not supported; the newest supported version is {VERSION}")),
        }
    }

    pub(super) fn has_server(&self, server: &str) -> bool {
        self.servers.contains_key(server)
    }

    pub(super) fn get(&self, server: &str, tool: &str) -> Option<&PinnedTool> {
        self.servers.get(server)?.get(tool)
    }

    pub(super) fn pin_server(&mut self, server: &str) {
        self.servers.entry(server.to_owned()).or_default();
    }

    pub(super) fn pin(&mut self, server: &str, tool: &str, fingerprint: String, fields: Value) {
        let tools = self.servers.entry(server.to_owned()).or_default();
        tools.insert(tool.to_owned(), PinnedTool { fingerprint, fields });
    }
}

/// An exclusive lock for writing the file, released when dropped. Where files cannot be locked, it does nothing.
pub(super) struct WriteLock {
    #[cfg(unix)]
    _locked: Option<unix::LockedFile>,
}

impl WriteLock {
    /// Waits for the lock for a bounded time, because its owner may be suspended.
    #[cfg(unix)]
    pub(super) fn acquire(path: &Path) -> io::Result<Self> {
        Ok(Self { _locked: unix::lock(path)? })
    }

    #[cfg(not(unix))]
    pub(super) fn acquire(_path: &Path) -> io::Result<Self> {
        Ok(Self {})
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File};
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    /// The number of attempts, and the pause between them.
    const ATTEMPTS: u32 = 200;
    const PAUSE: Duration = Duration::from_millis(5);

    /// A second file beside the lock file. The lock file itself cannot be locked, because writing replaces it.
    pub(super) struct LockedFile {
        path: PathBuf,
        _file: File,
    }

    impl Drop for LockedFile {
        fn drop(&mut self) {
            // Removed while it is locked: a process that has opened it meanwhile notices, and creates another one.
            drop(fs::remove_file(&self.path));
        }
    }

    pub(super) fn lock(path: &Path) -> io::Result<Option<LockedFile>> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".turn");
        let beside = PathBuf::from(beside);
        if let Some(directory) = beside.parent() {
            fs::create_dir_all(directory)?;
        }
        for _ in 0..ATTEMPTS {
            let file = File::options().append(true).create(true).open(&beside)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if is_same_file(&file, &beside)? => return Ok(Some(LockedFile { path: beside, _file: file })),
                // The previous owner has removed it.
                Ok(()) => continue,
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(PAUSE),
                Err(Errno::NOLCK | Errno::NOTSUP | Errno::NOSYS) => {
                    drop(fs::remove_file(&beside));
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let why = format!("another process is writing to it, or was suspended while writing ({})", beside.display());
        Err(io::Error::new(io::ErrorKind::WouldBlock, why))
    }

    fn is_same_file(file: &File, path: &Path) -> io::Result<bool> {
        let (locked, now) = (file.metadata()?, fs::metadata(path));
        Ok(now.is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())))
    }
}
