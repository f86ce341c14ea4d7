//! Removal of old entries.

use std::time::{Duration, SystemTime};

use tool_runtime::journal::JournalError;
use tool_sqlite::time::stamp;

use crate::SqliteJournal;
use crate::error::ResultExt;

impl SqliteJournal {
    /// Removes entries older than `older_than` whose call is not running, and all expired pending calls. Returns the
    /// number of removed entries.
    ///
    /// A repeated call whose entry was removed runs again. Keep entries for longer than clients may repeat calls.
    ///
    /// # Errors
    /// If writing to the file fails.
    pub async fn prune(&self, older_than: Duration) -> Result<u64, JournalError> {
        let limit = stamp(SystemTime::now().checked_sub(older_than).unwrap_or(SystemTime::UNIX_EPOCH));
        let delete = |statement| sqlx::query(statement).bind(limit);
        let expired = sqlx::query("DELETE FROM pending WHERE expires <= ?").bind(stamp(SystemTime::now()));
        expired.execute(self.writer()).await.or_unwritten("remove old entries")?;
        let mut removed = 0;
        // Delete in batches, so that calls do not wait for long.
        loop {
            let some = delete(
                "DELETE FROM calls WHERE sequence IN (SELECT sequence FROM calls LEFT JOIN outcomes ON call = sequence \
                 WHERE calls.at < ? AND (run IS NULL OR call IS NOT NULL) LIMIT 500)",
            );
            let some = some.execute(self.writer()).await.or_unwritten("remove old entries")?.rows_affected();
            removed += some;
            if some == 0 {
                break;
            }
        }
        Ok(removed + self.prune_unfinished(limit).await?)
    }

    /// Removes old entries of ended processes, whose outcome will never be known.
    async fn prune_unfinished(&self, limit: i64) -> Result<u64, JournalError> {
        let unfinished: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT sequence, opening, run FROM calls LEFT JOIN outcomes ON call = sequence \
             WHERE calls.at < ? AND run IS NOT NULL AND call IS NULL",
        )
        .bind(limit)
        .fetch_all(self.readers())
        .await
        .or_unread("old entries")?;
        let mut removed = 0;
        for (sequence, opening, run) in unfinished {
            if !self.is_running(opening, run) {
                let delete = sqlx::query("DELETE FROM calls WHERE sequence = ?").bind(sequence);
                removed += delete.execute(self.writer()).await.or_unwritten("remove old entries")?.rows_affected();
            }
        }
        Ok(removed)
    }
}
