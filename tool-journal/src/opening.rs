//! Openings of the file, and detection of processes that have ended.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sqlx::SqliteConnection;
use tool_runtime::journal::JournalError;
use tool_sqlite::private;
use tool_sqlite::time::stamp;

use crate::error::{ResultExt, unavailable};

/// One opening of the file: a number, and a lock that the operating system holds until the process ends.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) id: i64,
    journal: PathBuf,
    lock: File,
}

impl Opening {
    /// Allocates a number and takes its lock. The caller must hold an exclusive transaction, so that no other opening sees
    /// a lock file that is not locked yet.
    pub(crate) async fn register(connection: &mut SqliteConnection, journal: &Path) -> Result<Self, JournalError> {
        remove_stale_locks(journal);
        loop {
            let inserted = sqlx::query("INSERT INTO openings (process, at) VALUES (?, ?)")
                .bind(i64::from(std::process::id()))
                .bind(stamp(std::time::SystemTime::now()))
                .execute(&mut *connection)
                .await
                .or_unwritten("register this process")?;
            let id = inserted.last_insert_rowid();
            let path = lock_path(journal, id);
            let cannot = |error| {
                let shown = path.display();
                unavailable(format!("cannot lock {shown} for the journal: {error}; its directory must be writable"))
                    .caused_by(error)
            };
            let lock = private().open(&path).map_err(cannot)?;
            match lock.try_lock() {
                Ok(()) => return Ok(Self { id, journal: journal.to_owned(), lock }),
                // A process still has a deleted journal of this path open: take the next number.
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
            }
        }
    }

    /// Returns the identity of the file: the time of its first opening, in microseconds, and the process id.
    pub(crate) async fn first_identity(connection: &mut SqliteConnection) -> Result<String, JournalError> {
        let (process, at): (i64, i64) = sqlx::query_as("SELECT process, at FROM openings ORDER BY id LIMIT 1")
            .fetch_one(connection)
            .await
            .or_unread("its first opening")?;
        Ok(format!("{at}-{process}"))
    }

    /// Returns `true` if the process of an opening is alive.
    pub(crate) fn is_alive(&self, id: i64) -> bool {
        id == self.id || is_locked(&lock_path(&self.journal, id))
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        // Otherwise the system would unlock the file, and the next opening would remove it.
        drop(self.lock.unlock());
        drop(fs::remove_file(lock_path(&self.journal, self.id)));
    }
}

fn lock_path(journal: &Path, id: i64) -> PathBuf {
    let mut path = lock_prefix(journal);
    path.push(id.to_string());
    path.into()
}

fn lock_prefix(journal: &Path) -> OsString {
    let mut prefix = journal.as_os_str().to_owned();
    prefix.push("-open-");
    prefix
}

/// Returns `true` if a lock file is locked, or if that cannot be determined. Tests with a shared lock, so that concurrent
/// tests do not take each other for the owner.
fn is_locked(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => file.try_lock_shared().is_err(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// Removes lock files of ended processes. A file that cannot be removed does no harm.
fn remove_stale_locks(journal: &Path) {
    let prefix = lock_prefix(journal);
    let Some(entries) = journal.parent().and_then(|directory| fs::read_dir(directory).ok()) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let is_ours = path.as_os_str().as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        if is_ours.is_some_and(|number| number.iter().all(u8::is_ascii_digit)) && !is_locked(&path) {
            drop(fs::remove_file(path));
        }
    }
}
