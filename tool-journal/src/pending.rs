//! Calls that wait for somebody's confirmation, so that they outlive a restart.

use std::time::SystemTime;

use serde_json::Value;
use tool_runtime::journal::JournalError;

use crate::SqliteJournal;
use crate::error::{ResultExt, unreadable};
use crate::time::stamp;

impl SqliteJournal {
    /// Keeps a call under an id until somebody takes it. One that is there under the same id is replaced.
    ///
    /// The payload is written as it is: a call with secret arguments is better kept in memory.
    ///
    /// # Errors
    /// If it cannot be written.
    pub async fn put_pending(&self, id: &str, conversation: Option<&str>, payload: &Value) -> Result<(), JournalError> {
        sqlx::query("INSERT OR REPLACE INTO pending (id, conversation, payload, at) VALUES (?, ?, ?, ?)")
            .bind(id)
            .bind(conversation)
            .bind(payload.to_string())
            .bind(stamp(SystemTime::now()))
            .execute(self.writer())
            .await
            .or_unwritten("keep a call that waits for a confirmation")
            .map(drop)
    }

    /// Takes a call out. Of several who try, in any process, one gets it.
    ///
    /// # Errors
    /// If it cannot be removed; then nobody has got it.
    pub async fn take_pending(&self, id: &str) -> Result<Option<Value>, JournalError> {
        let mut taken: Vec<(i64, String)> = sqlx::query_as("DELETE FROM pending WHERE id = ? RETURNING rowid, payload")
            .bind(id)
            .fetch_all(self.writer())
            .await
            .or_unwritten("take out a call that waited for a confirmation")?;
        taken.pop().map(parsed).transpose()
    }

    /// The calls that wait, those of one conversation or all, with their ids; the oldest first.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn list_pending(&self, conversation: Option<&str>) -> Result<Vec<(String, Value)>, JournalError> {
        let rows: Vec<(String, i64, String)> = sqlx::query_as(
            "SELECT id, rowid, payload FROM pending WHERE ?1 IS NULL OR conversation = ?1 ORDER BY at, rowid",
        )
        .bind(conversation)
        .fetch_all(self.readers())
        .await
        .or_unread("the calls that wait for a confirmation")?;
        rows.into_iter().map(|(id, row, payload)| Ok((id, parsed((row, payload))?))).collect()
    }
}

fn parsed((row, payload): (i64, String)) -> Result<Value, JournalError> {
    serde_json::from_str(&payload).map_err(|error| unreadable("the pending call", row, error))
}
