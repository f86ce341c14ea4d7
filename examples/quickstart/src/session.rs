//! A transaction for each call.

use std::sync::Arc;

use sqlx::{Sqlite, SqliteConnection, SqlitePool, Transaction};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

/// The transaction of one call. Clones share it: sqlx's own is not `Clone`, and the repository needs it too.
#[derive(Clone)]
pub struct Session {
    transaction: Arc<Mutex<Option<Transaction<'static, Sqlite>>>>,
}

impl Session {
    pub async fn begin(pool: &SqlitePool) -> sqlx::Result<Self> {
        let transaction = pool.begin().await?;
        Ok(Self { transaction: Arc::new(Mutex::new(Some(transaction))) })
    }

    /// The connection, for one statement.
    pub async fn connection(&self) -> sqlx::Result<MappedMutexGuard<'_, SqliteConnection>> {
        let transaction = self.transaction.lock().await;
        MutexGuard::try_map(transaction, Option::as_deref_mut)
            .map_err(|_| sqlx::Error::Protocol("the session is over".to_owned()))
    }

    /// Commits, or rolls back. A clone that outlives the call finds the session over.
    pub async fn end(self, commit: bool) -> sqlx::Result<()> {
        match self.transaction.lock().await.take() {
            Some(transaction) if commit => transaction.commit().await,
            Some(transaction) => transaction.rollback().await,
            None => Ok(()),
        }
    }
}
