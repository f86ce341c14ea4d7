//! Calls that wait for somebody's confirmation, so that they outlive a restart.

use std::pin::Pin;
use std::time::SystemTime;

use serde_json::Value;
use tool_runtime::confirm::{PendingCall, PendingStore, StoreError};
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

    async fn get_pending(&self, id: &str) -> Result<Option<Value>, JournalError> {
        let row: Option<(i64, String)> = sqlx::query_as("SELECT rowid, payload FROM pending WHERE id = ?")
            .bind(id)
            .fetch_optional(self.readers())
            .await
            .or_unread("a call that waits for a confirmation")?;
        row.map(parsed).transpose()
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

/// Calls that wait outlive a restart: `Deferred::new(key).store(journal.clone())`.
impl PendingStore for SqliteJournal {
    fn put(&self, call: PendingCall) -> Stored<'_, ()> {
        Box::pin(async move {
            let payload = serde_json::to_value(&call).map_err(StoreError::new)?;
            let conversation = call.question.conversation.as_deref();
            self.put_pending(&call.id, conversation, &payload).await.map_err(StoreError::new)
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> Stored<'a, Option<PendingCall>> {
        Box::pin(async move { self.get_pending(id).await.map_err(StoreError::new)?.map(call).transpose() })
    }

    fn take<'a>(&'a self, id: &'a str) -> Stored<'a, Option<PendingCall>> {
        Box::pin(async move { self.take_pending(id).await.map_err(StoreError::new)?.map(call).transpose() })
    }

    fn list<'a>(&'a self, conversation: &'a str) -> Stored<'a, Vec<PendingCall>> {
        Box::pin(async move {
            let waiting = self.list_pending(Some(conversation)).await.map_err(StoreError::new)?;
            waiting.into_iter().map(|(_, payload)| call(payload)).collect()
        })
    }
}

type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

fn call(payload: Value) -> Result<PendingCall, StoreError> {
    serde_json::from_value(payload).map_err(StoreError::new)
}

fn parsed((row, payload): (i64, String)) -> Result<Value, JournalError> {
    serde_json::from_str(&payload).map_err(|error| unreadable("the pending call", row, error))
}
