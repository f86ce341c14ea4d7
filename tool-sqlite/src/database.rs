//! An open database file.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::{Sqlite, SqlitePool, Transaction};

/// An open database file with its connection pools. Clones share them.
#[derive(Clone, Debug)]
pub struct Database {
    /// The pool for writing. It has one connection, since SQLite allows one writer at a time and the pool serves waiting
    /// tasks in order.
    pub writer: SqlitePool,
    /// The pool for reading, which the writer does not block.
    pub readers: SqlitePool,
    /// The canonical path. Symbolic links are resolved, as SQLite does, so that all processes agree on the paths of
    /// companion files.
    pub path: PathBuf,
    /// Set whenever the writer rolls back.
    pub(crate) rolled_back: Arc<AtomicBool>,
}

impl Database {
    /// Begins a transaction that excludes all other writers, in this process and in others.
    ///
    /// # Errors
    /// If another writer keeps the file locked for too long.
    pub async fn exclusive(&self) -> sqlx::Result<Transaction<'static, Sqlite>> {
        let transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        self.rolled_back.store(false, Ordering::Release);
        Ok(transaction)
    }

    /// Returns `true` if the last [`exclusive`](Self::exclusive) transaction was rolled back, including by SQLite itself
    /// because a statement failed. Each further statement would then be its own transaction, so check this before
    /// continuing after an error.
    #[must_use]
    pub fn is_rolled_back(&self) -> bool {
        self.rolled_back.load(Ordering::Acquire)
    }

    /// Writes the write-ahead log to the file and closes it. Dropping the last clone does the same, but later.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
