//! Storage of pending calls, which survive a restart.

use std::time::SystemTime;

use tool_runtime::confirm::{PendingStore, PendingStoreError, PendingStoreFuture, SealedCall};
use tool_runtime::journal::JournalError;
use tool_sqlite::time::{from_stamp, stamp};

use crate::SqliteJournal;
use crate::error::{ResultExt, unavailable};

/// Maximum number of pending calls. Further ones are refused, rather than dropping older ones.
const MAX_PENDING: i64 = 10_000;

type PendingRow = (String, Option<String>, i64, String);

/// Stores pending calls, so that they survive a restart: `Deferred::new(key).store(journal.clone())`. They arrive
/// encrypted and are stored unchanged. At most 10,000 calls can be pending; expired ones are removed.
impl PendingStore for SqliteJournal {
    fn put(&self, call: SealedCall) -> PendingStoreFuture<'_, ()> {
        Box::pin(async move { self.put_pending(&call).await.map_err(PendingStoreError::new) })
    }

    fn get<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        Box::pin(async move { self.get_pending(id).await.map_err(PendingStoreError::new) })
    }

    fn take<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        Box::pin(async move { self.take_pending(id).await.map_err(PendingStoreError::new) })
    }

    fn list<'a>(&'a self, conversation: &'a str) -> PendingStoreFuture<'a, Vec<SealedCall>> {
        Box::pin(async move { self.list_pending(Some(conversation)).await.map_err(PendingStoreError::new) })
    }

    fn list_all(&self) -> PendingStoreFuture<'_, Vec<SealedCall>> {
        Box::pin(async { self.list_pending(None).await.map_err(PendingStoreError::new) })
    }
}

impl SqliteJournal {
    async fn put_pending(&self, call: &SealedCall) -> Result<(), JournalError> {
        const WHAT: &str = "store a pending call";
        let mut transaction = self.exclusive().await?;
        sqlx::query("DELETE FROM pending WHERE expires <= ?")
            .bind(stamp(SystemTime::now()))
            .execute(&mut *transaction)
            .await
            .or_unwritten(WHAT)?;
        let (waiting,): (i64,) =
            sqlx::query_as("SELECT count(*) FROM pending").fetch_one(&mut *transaction).await.or_unwritten(WHAT)?;
        if waiting >= MAX_PENDING {
            return Err(unavailable(format!("{MAX_PENDING} calls are pending already; approve or refuse some")));
        }
        sqlx::query("INSERT OR REPLACE INTO pending (id, conversation, expires, sealed) VALUES (?, ?, ?, ?)")
            .bind(&call.id)
            .bind(&call.conversation)
            .bind(stamp(call.expires))
            .bind(&call.sealed)
            .execute(&mut *transaction)
            .await
            .or_unwritten(WHAT)?;
        transaction.commit().await.or_unwritten(WHAT)
    }

    /// Removes and returns a pending call. Of several concurrent callers, in any process, only one gets it.
    async fn take_pending(&self, id: &str) -> Result<Option<SealedCall>, JournalError> {
        let mut taken: Vec<PendingRow> =
            sqlx::query_as("DELETE FROM pending WHERE id = ? RETURNING id, conversation, expires, sealed")
                .bind(id)
                .fetch_all(self.writer())
                .await
                .or_unwritten("remove a pending call")?;
        Ok(taken.pop().map(sealed))
    }

    async fn get_pending(&self, id: &str) -> Result<Option<SealedCall>, JournalError> {
        let found: Option<PendingRow> =
            sqlx::query_as("SELECT id, conversation, expires, sealed FROM pending WHERE id = ?")
                .bind(id)
                .fetch_optional(self.readers())
                .await
                .or_unread("a pending call")?;
        Ok(found.map(sealed))
    }

    /// Lists the pending calls of a conversation, or all.
    async fn list_pending(&self, conversation: Option<&str>) -> Result<Vec<SealedCall>, JournalError> {
        let query = match conversation {
            None => sqlx::query_as("SELECT id, conversation, expires, sealed FROM pending ORDER BY rowid"),
            Some(conversation) => sqlx::query_as(
                "SELECT id, conversation, expires, sealed FROM pending WHERE conversation = ? ORDER BY rowid",
            )
            .bind(conversation),
        };
        let found: Vec<PendingRow> = query.fetch_all(self.readers()).await.or_unread("the pending calls")?;
        Ok(found.into_iter().map(sealed).collect())
    }
}

fn sealed((id, conversation, expires, sealed): PendingRow) -> SealedCall {
    SealedCall::new(id, conversation, from_stamp(expires), sealed)
}
