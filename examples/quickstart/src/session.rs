//! One transaction per call.

use std::sync::Arc;

use sqlx::{Sqlite, SqliteConnection, SqlitePool, Transaction};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

/// The transaction of one call. Clones share it, because the repository needs it and sqlx's type is not `Clone`.
#[derive(Clone)]
pub struct Session {
    transaction: Arc<Mutex<Option<Transaction<'static, Sqlite>>>>,
}

impl Session {
    pub async fn begin(pool: &SqlitePool) -> sqlx::Result<Self> {
        let transaction = pool.begin().await?;
        Ok(Self { transaction: Arc::new(Mutex::new(Some(transaction))) })
    }

    /// Locks the connection for one statement.
    pub async fn connection(&self) -> sqlx::Result<MappedMutexGuard<'_, SqliteConnection>> {
        let transaction = self.transaction.lock().await;
        MutexGuard::try_map(transaction, Option::as_deref_mut)
            .map_err(|_| sqlx::Error::Protocol("the session has ended".to_owned()))
    }

    /// Commits or rolls back. Later uses of a clone return an error.
    pub async fn end(self, commit: bool) -> sqlx::Result<()> {
        match self.transaction.lock().await.take() {
            Some(transaction) if commit => transaction.commit().await,
            Some(transaction) => transaction.rollback().await,
            None => Ok(()),
        }
    }
}
