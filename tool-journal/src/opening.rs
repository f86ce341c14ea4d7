//! Who has the file open, and who is gone.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sqlx::SqliteConnection;
use tool_runtime::journal::JournalError;
use tool_sqlite::private;
use tool_sqlite::time::stamp;

use crate::error::{ResultExt, unavailable};

/// One opening of the file: a number, and a lock that the system holds until the process ends.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) id: i64,
    journal: PathBuf,
    lock: File,
}

impl Opening {
    /// Takes a number and its lock. The caller has begun a transaction that excludes other openings, so that nobody
    /// sees a lock file that is not locked yet.
    pub(crate) async fn register(connection: &mut SqliteConnection, journal: &Path) -> Result<Self, JournalError> {
        remove_locks_of_the_dead(journal);
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
                unavailable(format!(
                    "the lock file {shown} of the journal cannot be had: {error}; its folder must be writable"
                ))
                .caused_by(error)
            };
            let lock = private().open(&path).map_err(cannot)?;
            match lock.try_lock() {
                Ok(()) => return Ok(Self { id, journal: journal.to_owned(), lock }),
                // Somebody still has a journal open that was deleted here since: take the next number.
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
            }
        }
    }

    /// What tells the file from others: who has opened it first, and when, to the microsecond.
    pub(crate) async fn first(connection: &mut SqliteConnection) -> Result<String, JournalError> {
        let (process, at): (i64, i64) = sqlx::query_as("SELECT process, at FROM openings ORDER BY id LIMIT 1")
            .fetch_one(connection)
            .await
            .or_unread("who has opened it first")?;
        Ok(format!("{at}-{process}"))
    }

    /// Whether the process of an opening lives.
    pub(crate) fn is_alive(&self, id: i64) -> bool {
        id == self.id || is_locked(&lock_path(&self.journal, id))
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        // The system would do the first, the next opening the second.
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

/// A shared lock is enough to ask: two that ask at the same time do not take each other for the living. Whoever cannot
/// be asked may be living.
fn is_locked(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => file.try_lock_shared().is_err(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// Nobody needs them: a file that is not there counts as not locked. What cannot be removed does no harm.
fn remove_locks_of_the_dead(journal: &Path) {
    let prefix = lock_prefix(journal);
    let Some(entries) = journal.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let is_ours = path.as_os_str().as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        if is_ours.is_some_and(|number| number.iter().all(u8::is_ascii_digit)) && !is_locked(&path) {
            drop(fs::remove_file(path));
        }
    }
}
