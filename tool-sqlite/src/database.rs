//! A file that is open.

use std::path::PathBuf;

use sqlx::{Sqlite, SqlitePool, Transaction};

/// An open file, and the connections to it. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Database {
    /// SQLite has one writer at a time, and those who wait for it are served in order only by a pool of one.
    pub writer: SqlitePool,
    /// For those who only read: the writer does not hold them up.
    pub readers: SqlitePool,
    /// The full path. Links are followed, as SQLite does: whoever opens the same file finds the same files beside it.
    pub path: PathBuf,
}

impl Database {
    /// A transaction during which nobody else writes, neither here nor in another process.
    ///
    /// # Errors
    /// If somebody else does not stop writing.
    pub async fn exclusive(&self) -> sqlx::Result<Transaction<'static, Sqlite>> {
        self.writer.begin_with("BEGIN IMMEDIATE").await
    }

    /// Writes everything to the file itself and closes it. Dropping the last clone does the same, some time later.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
