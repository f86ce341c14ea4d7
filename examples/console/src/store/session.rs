//! The session of one call.

use std::sync::Arc;

use sqlx::{Sqlite, SqliteConnection, Transaction};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};
use tool_sqlite::Database;

/// The transaction of one call. Clones share it, so that what one repository has written another one of the call reads,
/// and all of it is kept or nothing.
///
/// It begins with the first statement: a call that thinks for long before it writes keeps nobody waiting meanwhile.
#[derive(Clone)]
pub struct Session {
    state: Arc<Mutex<State>>,
}

enum State {
    Idle(Database),
    Begun(Database, Transaction<'static, Sqlite>),
    Over,
}

impl Session {
    pub(super) fn new(file: Database) -> Self {
        Self { state: Arc::new(Mutex::new(State::Idle(file))) }
    }

    /// The connection, for one statement.
    ///
    /// # Errors
    /// When the transaction cannot begin or was rolled back because a statement failed, and when the session is over.
    pub async fn connection(&self) -> sqlx::Result<MappedMutexGuard<'_, SqliteConnection>> {
        let mut state = self.state.lock().await;
        if let State::Idle(file) = &*state {
            // One that reads first and writes later would fail if somebody wrote in between.
            *state = State::Begun(file.clone(), file.exclusive().await?);
        }
        let begun = MutexGuard::try_map(state, |state| match state {
            // What came after would be kept without what came before.
            State::Begun(file, transaction) if !file.is_rolled_back() => Some(&mut **transaction),
            _ => None,
        });
        begun.map_err(|_| sqlx::Error::Protocol("the session is over, or was rolled back after an error".to_owned()))
    }

    /// Commits, or rolls back. A clone that outlives the call finds the session over.
    ///
    /// # Errors
    /// When it cannot be done; then nothing is kept.
    pub async fn end(self, commit: bool) -> sqlx::Result<()> {
        match std::mem::replace(&mut *self.state.lock().await, State::Over) {
            State::Begun(_, transaction) if commit => transaction.commit().await,
            // SQLite has done it already, and would complain.
            State::Begun(file, _) if file.is_rolled_back() => Ok(()),
            State::Begun(_, transaction) => transaction.rollback().await,
            State::Idle(_) | State::Over => Ok(()),
        }
    }
}
