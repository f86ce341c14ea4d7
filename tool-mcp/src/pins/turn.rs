//! Who may write to a file that several processes share.

use std::fs::File;
use std::io;
use std::path::Path;

/// The turn to write, until it is dropped. Where there is no such thing, everybody has it.
pub(super) struct Turn {
    _file: Option<File>,
}

impl Turn {
    /// Waits for it. A file that is not there is made, and empty.
    #[cfg(unix)]
    pub(super) fn take(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;

        use rustix::fs::{FlockOperation, flock};

        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        loop {
            let file = File::options().append(true).create(true).open(path)?;
            flock(&file, FlockOperation::LockExclusive)?;
            // Who had it before may have put another file in its place.
            let (locked, now) = (file.metadata()?, std::fs::metadata(path));
            if now.is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())) {
                return Ok(Self { _file: Some(file) });
            }
        }
    }

    #[cfg(not(unix))]
    pub(super) fn take(_path: &Path) -> io::Result<Self> {
        Ok(Self { _file: None })
    }
}
