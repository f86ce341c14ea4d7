//! A file that is open.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// Set whenever the writer rolls back.
    pub(crate) rolled_back: Arc<AtomicBool>,
}

impl Database {
    /// A transaction during which nobody else writes, neither here nor in another process.
    ///
    /// # Errors
    /// If somebody else does not stop writing.
    pub async fn exclusive(&self) -> sqlx::Result<Transaction<'static, Sqlite>> {
        let transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        self.rolled_back.store(false, Ordering::Release);
        Ok(transaction)
    }

    /// Returns `true` if the last [`exclusive`](Self::exclusive) transaction was rolled back, be it by SQLite itself
    /// because a statement failed. Each further statement would be a transaction of its own then, so code that goes on
    /// after an error has to ask first.
    #[must_use]
    pub fn is_rolled_back(&self) -> bool {
        self.rolled_back.load(Ordering::Acquire)
    }

    /// Writes everything to the file itself and closes it. Dropping the last clone does the same, some time later.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
