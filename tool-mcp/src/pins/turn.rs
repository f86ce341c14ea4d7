//! Who may write to a file that several processes share.

use std::io;
use std::path::Path;

/// The turn to write, until it is dropped. Where files cannot be locked, everybody has it.
pub(super) struct Turn {
    #[cfg(unix)]
    _taken: Option<unix::Taken>,
}

impl Turn {
    /// Waits for it, but not for ever: whoever has it may have been stopped.
    #[cfg(unix)]
    pub(super) fn take(path: &Path) -> io::Result<Self> {
        Ok(Self { _taken: unix::take(path)? })
    }

    #[cfg(not(unix))]
    pub(super) fn take(_path: &Path) -> io::Result<Self> {
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

    /// How often the turn is asked for, and how long between.
    const TRIES: u32 = 200;
    const PAUSE: Duration = Duration::from_millis(5);

    /// A file beside the other one, which is locked. The other one itself is replaced when it is written.
    pub(super) struct Taken {
        path: PathBuf,
        _file: File,
    }

    impl Drop for Taken {
        fn drop(&mut self) {
            // While it is locked: whoever has opened it meanwhile sees that it is gone, and makes another one.
            drop(fs::remove_file(&self.path));
        }
    }

    pub(super) fn take(path: &Path) -> io::Result<Option<Taken>> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".turn");
        let beside = PathBuf::from(beside);
        if let Some(folder) = beside.parent() {
            fs::create_dir_all(folder)?;
        }
        for _ in 0..TRIES {
            let file = File::options().append(true).create(true).open(&beside)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if is_at(&file, &beside)? => return Ok(Some(Taken { path: beside, _file: file })),
                // Whoever had it before has removed it.
                Ok(()) => continue,
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(PAUSE),
                Err(Errno::NOLCK | Errno::NOTSUP | Errno::NOSYS) => {
                    drop(fs::remove_file(&beside));
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let why = format!("another process is writing to it, or was stopped while it did so ({})", beside.display());
        Err(io::Error::new(io::ErrorKind::WouldBlock, why))
    }

    fn is_at(file: &File, path: &Path) -> io::Result<bool> {
        let (locked, now) = (file.metadata()?, fs::metadata(path));
        Ok(now.is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())))
    }
}
