//! The transaction of one call.

use std::sync::Arc;

use sqlx::{Sqlite, SqliteConnection, Transaction};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};
use tool_sqlite::Database;

/// The transaction of one call. Clones share it, so that all repositories of a call see the same data and commit
/// together.
///
/// It begins with the first statement, so that a call does not block others before it uses the database.
#[derive(Clone)]
pub struct Session {
    state: Arc<Mutex<SessionState>>,
}

enum SessionState {
    Idle(Database),
    Begun(Database, Transaction<'static, Sqlite>),
    Over,
}

impl Session {
    pub(super) fn new(file: Database) -> Self {
        Self { state: Arc::new(Mutex::new(SessionState::Idle(file))) }
    }

    /// Returns the connection for one statement.
    ///
    /// # Errors
    /// If the transaction cannot begin, was rolled back because a statement failed, or has ended.
    pub async fn connection(&self) -> sqlx::Result<MappedMutexGuard<'_, SqliteConnection>> {
        let mut state = self.state.lock().await;
        if let SessionState::Idle(file) = &*state {
            // A transaction that reads first and writes later would fail if another one wrote in between.
            *state = SessionState::Begun(file.clone(), file.exclusive().await?);
        }
        let begun = MutexGuard::try_map(state, |state| match state {
            // Later statements would be committed without the earlier ones.
            SessionState::Begun(file, transaction) if !file.is_rolled_back() => Some(&mut **transaction),
            _ => None,
        });
        begun.map_err(|_| sqlx::Error::Protocol("the session is over, or was rolled back after an error".to_owned()))
    }

    /// Commits or rolls back. A clone that outlives the call gets an error.
    ///
    /// # Errors
    /// If the commit fails. Then nothing is stored.
    pub async fn end(self, commit: bool) -> sqlx::Result<()> {
        match std::mem::replace(&mut *self.state.lock().await, SessionState::Over) {
            SessionState::Begun(_, transaction) if commit => transaction.commit().await,
            // SQLite has rolled back already and would report an error.
            SessionState::Begun(file, _) if file.is_rolled_back() => Ok(()),
            SessionState::Begun(_, transaction) => transaction.rollback().await,
            SessionState::Idle(_) | SessionState::Over => Ok(()),
        }
    }
}
