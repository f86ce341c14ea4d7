//! Kinds of database files, and opening them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::retry::{BUSY_TIMEOUT, retry_while_busy};
use crate::{Database, OpenError, private};

/// Number of reader connections.
const READERS: u32 = 4;

/// A kind of database file: its application id, schema and settings.
#[derive(Clone, Copy, Debug)]
pub struct FileKind {
    /// SQLite's application id, which marks files of this kind. With zeros, files have no mark: another program's
    /// unmarked file is then refused only if its version is missing or unknown.
    pub application: [u8; 4],
    /// Noun phrase for the file in messages: `the journal`.
    pub name: &'static str,
    /// Phrase for another program's file in messages: `not a journal of calls`.
    pub others: &'static str,
    /// SQL scripts that migrate a file from each version to the next. An empty file has version 0.
    pub migrations: &'static [&'static str],
    /// Pragmas of each connection. They override the default ones.
    pub pragmas: &'static [(&'static str, &'static str)],
    /// Timeout for acquiring a connection while this process uses all of them.
    pub queue: Duration,
}

impl FileKind {
    /// Opens a file, creates it if it does not exist, and migrates it to the current version.
    ///
    /// # Errors
    /// If the file cannot be written, is damaged, is another program's database, or was written by a newer version.
    pub async fn open(&self, path: impl AsRef<Path>) -> Result<Database, OpenError> {
        let path = create(path.as_ref())?;
        let options = SqliteConnectOptions::new().filename(&path).busy_timeout(BUSY_TIMEOUT);
        self.check(&options).await?;
        let database = self.connect(path, options).await?;
        let migrated = self.migrate(&database).await;
        if migrated.is_err() {
            // Close it now, so that the next opening does not find it locked.
            database.close().await;
        }
        migrated.map(|()| database)
    }

    /// Checks that the file is of this kind or empty before anything changes it, including its journal mode.
    async fn check(&self, options: &SqliteConnectOptions) -> Result<(), OpenError> {
        let mut connection = retry_while_busy(|| options.connect()).await.map_err(unread)?;
        let checked = self.missing(&mut connection).await;
        connection.close().await.map_err(unread)?;
        checked.map(drop)
    }

    async fn connect(&self, path: PathBuf, options: SqliteConnectOptions) -> Result<Database, OpenError> {
        let options = options
            .journal_mode(SqliteJournalMode::Wal)
            // Makes commits durable when they return, on macOS too.
            .synchronous(SqliteSynchronous::Full)
            .pragma("fullfsync", "ON");
        let options = self.pragmas.iter().fold(options, |options, (name, value)| options.pragma(*name, *value));
        let pool = || {
            let pool = SqlitePoolOptions::new().acquire_timeout(self.queue).idle_timeout(None).max_lifetime(None);
            pool.after_release(|connection, _| Box::pin(is_settled(connection)))
        };
        let rolled_back = Arc::new(AtomicBool::new(false));
        let writing = || {
            let rolled_back = rolled_back.clone();
            pool().max_connections(1).after_connect(move |connection, _| {
                let rolled_back = rolled_back.clone();
                Box::pin(async move {
                    let mut handle = connection.lock_handle().await?;
                    handle.set_rollback_hook(move || rolled_back.store(true, Ordering::Release));
                    Ok(())
                })
            })
        };
        let writer = retry_while_busy(|| writing().connect_with(options.clone())).await.map_err(unread)?;
        let readers = pool().max_connections(READERS).connect_lazy_with(options.pragma("query_only", "ON"));
        Ok(Database { writer, readers, path, rolled_back })
    }
}

fn unread(error: sqlx::Error) -> OpenError {
    OpenError::Unread("its file", error)
}

/// Returns `true` if the connection has no open transaction. Otherwise the pool closes it and opens another.
///
/// SQLite itself rolls back on some errors: a full disk, an I/O error, out of memory, an outdated snapshot
/// (<https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction>). sqlx does not notice, and its
/// own rollback fails because no transaction is open. Its transaction depth is then too high for the lifetime of the
/// connection: the writer refuses every `BEGIN IMMEDIATE`, and a reader turns each `BEGIN` into a savepoint and may keep
/// an old snapshot forever.
async fn is_settled(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    if connection.is_in_transaction() {
        // A dropped transaction has only queued its rollback. `ping` waits for it.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

/// Creates the file if it does not exist, and returns its canonical path.
fn create(path: &Path) -> Result<PathBuf, OpenError> {
    let full_path = private().open(path).and_then(|_| path.canonicalize());
    full_path.map_err(|error| OpenError::Path(path.to_owned(), error))
}
