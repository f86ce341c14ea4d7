//! What a file is for, and how it is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::patience::{BUSY, patiently};
use crate::{Database, OpenError, private};

/// How many can read at once.
const READERS: u32 = 4;

/// A kind of file: what tells it from others, and what is in it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Four letters that mark a file as one of this kind. Zeros leave it without a mark: then another program's file
    /// without one is refused only if it has no version, or one that is not known.
    pub application: [u8; 4],
    /// What the file is called: `the journal`.
    pub name: &'static str,
    /// What another program's file is called: `no journal of calls`.
    pub others: &'static str,
    /// What brings a file from each version to the next; an empty file has version 0.
    pub migrations: &'static [&'static str],
    /// Settings of each connection, with which the usual ones can be replaced, too.
    pub pragmas: &'static [(&'static str, &'static str)],
    /// How long to wait for a connection, behind this process' own statements.
    pub queue: Duration,
}

impl Kind {
    /// Opens a file, makes it if there is none, and brings it to this version.
    ///
    /// # Errors
    /// If the file cannot be written, is damaged, is another program's database, or was written by a newer version.
    pub async fn open(&self, path: impl AsRef<Path>) -> Result<Database, OpenError> {
        let path = create(path.as_ref())?;
        let options = SqliteConnectOptions::new().filename(&path).busy_timeout(BUSY);
        self.check(&options).await?;
        let database = self.connect(path, options).await?;
        let migrated = self.migrate(&database).await;
        if migrated.is_err() {
            // Whoever opens it next does not find it locked by what is still being closed.
            database.close().await;
        }
        migrated.map(|()| database)
    }

    /// Makes sure that the file is of this kind or empty: no other database is to be changed, not even in its mode.
    async fn check(&self, options: &SqliteConnectOptions) -> Result<(), OpenError> {
        let mut connection = patiently(|| options.connect()).await.map_err(unread)?;
        let checked = self.missing(&mut connection).await;
        connection.close().await.map_err(unread)?;
        checked.map(drop)
    }

    async fn connect(&self, path: PathBuf, options: SqliteConnectOptions) -> Result<Database, OpenError> {
        let options = options
            .journal_mode(SqliteJournalMode::Wal)
            // A commit is on the disk when it returns, on macOS too.
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
        let writer = patiently(|| writing().connect_with(options.clone())).await.map_err(unread)?;
        let readers = pool().max_connections(READERS).connect_lazy_with(options.pragma("query_only", "ON"));
        Ok(Database { writer, readers, path, rolled_back })
    }
}

fn unread(error: sqlx::Error) -> OpenError {
    OpenError::Unread("its file", error)
}

/// Returns `true` if the connection has no transaction open. The pool closes it otherwise, and opens another.
///
/// On some errors SQLite rolls back by itself: a full disk, a failed read or write, too little memory, a snapshot that
/// is out of date (<https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction>). sqlx does not
/// notice, and its own rollback fails because no transaction is open. It then counts one transaction too many for as long
/// as the connection lives: the writer refuses every `BEGIN IMMEDIATE`, and a reader takes each `BEGIN` for a savepoint
/// and may never let go of an old snapshot.
async fn is_settled(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    if connection.is_in_transaction() {
        // A dropped transaction has only queued its rollback. The connection answers once that was tried.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

/// Makes the file if there is none, and gives its full path.
fn create(path: &Path) -> Result<PathBuf, OpenError> {
    let full_path = private().open(path).and_then(|_| path.canonicalize());
    full_path.map_err(|error| OpenError::Path(path.to_owned(), error))
}
