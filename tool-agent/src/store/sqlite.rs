//! Conversations in a SQLite file.

use std::path::Path;
use std::time::{Duration, SystemTime};

use tool_sqlite::time::{from_stamp, stamp};
use tool_sqlite::{Database, FileKind, OpenError};

use super::{ConversationChange, ConversationStore, ConversationStoreError, SavedConversation, StoreFuture};
use crate::{Message, Mode};

const CONVERSATIONS: FileKind = FileKind {
    application: *b"tlag",
    name: "the file of conversations",
    others: "none of conversations",
    migrations: &[include_str!("1.sql"), include_str!("2.sql")],
    // Deleted content is overwritten.
    pragmas: &[("secure_delete", "ON")],
    queue: Duration::from_secs(30),
};

/// Conversations in a SQLite file that any number of processes on one machine can share. Clones share one store.
///
/// Messages are on disk before the run continues: calls before they run, and results before the model reads them. The
/// file is not encrypted; on Unix only its owner can read it. Deleted content is overwritten, but the write-ahead log
/// may contain it until all processes have closed the file. Pending calls are stored elsewhere, encrypted; see
/// [`Deferred`](tool_runtime::confirm::Deferred).
#[derive(Clone, Debug)]
pub struct SqliteStore(Database);

/// A conversation in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationSummary {
    /// The id.
    pub id: String,
    /// When it last changed.
    pub changed: SystemTime,
    /// The number of messages.
    pub messages: u64,
    /// The first 200 characters of the first message, as a title.
    pub first: Option<String>,
}

impl SqliteStore {
    /// Opens a file of conversations, or creates it.
    ///
    /// # Errors
    /// If the file cannot be written, is damaged, belongs to another program, or was written by a newer version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, ConversationStoreError> {
        CONVERSATIONS.open(path).await.map(Self).map_err(not_opened)
    }

    /// Returns the most recently changed conversations, newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn newest(&self, limit: u32) -> Result<Vec<ConversationSummary>, ConversationStoreError> {
        let found: Vec<(String, i64, i64, Option<String>)> = sqlx::query_as(
            "SELECT id, changed, (SELECT count(*) FROM messages WHERE conversation = id), \
             (SELECT substr(message ->> '$.text', 1, 200) FROM messages \
              WHERE conversation = id AND position = 0 AND json_valid(message)) \
             FROM conversations ORDER BY changed DESC, id LIMIT ?",
        )
        .bind(limit)
        .fetch_all(&self.0.readers)
        .await
        .map_err(unread)?;
        let summary = |(id, changed, messages, first)| ConversationSummary {
            id,
            changed: from_stamp(changed),
            messages: u64::try_from(messages).unwrap_or_default(),
            first,
        };
        Ok(found.into_iter().map(summary).collect())
    }

    /// Deletes all conversations that have not changed for this long. Returns how many were deleted.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn prune(&self, age: Duration) -> Result<u64, ConversationStoreError> {
        let Some(before) = SystemTime::now().checked_sub(age) else { return Ok(0) };
        let deleted =
            sqlx::query("DELETE FROM conversations WHERE changed < ?").bind(stamp(before)).execute(&self.0.writer);
        Ok(deleted.await.map_err(unwritten)?.rows_affected())
    }

    /// Checkpoints and closes the file. Dropping the last clone does the same later.
    pub async fn close(self) {
        self.0.close().await;
    }

    async fn read(&self, conversation: &str) -> Result<Option<SavedConversation>, ConversationStoreError> {
        // One transaction, so that both queries see the same version.
        let mut transaction = self.0.readers.begin().await.map_err(unread)?;
        let found: Option<(i64, i64, String)> =
            sqlx::query_as("SELECT version, mark, mode FROM conversations WHERE id = ?")
                .bind(conversation)
                .fetch_optional(&mut *transaction)
                .await
                .map_err(unread)?;
        let Some((version, mark, mode)) = found else { return Ok(None) };
        let messages: Vec<(String,)> =
            sqlx::query_as("SELECT message FROM messages WHERE conversation = ? ORDER BY position")
                .bind(conversation)
                .fetch_all(&mut *transaction)
                .await
                .map_err(unread)?;
        let messages = messages.iter().map(|(text,)| serde_json::from_str(text)).collect::<Result<Vec<Message>, _>>();
        let messages = messages.map_err(|error| {
            ConversationStoreError::new(format!("cannot read a message of the conversation `{conversation}`: {error}"))
                .caused_by(error)
        })?;
        // A mode of a newer version falls back to the one that changes nothing.
        let mode = Mode::from_name(&mode).unwrap_or(Mode::Plan);
        Ok(Some(SavedConversation { version: version.cast_unsigned(), mark: mark.cast_unsigned(), mode, messages }))
    }

    async fn write(&self, conversation: &str, change: ConversationChange<'_>) -> Result<(), ConversationStoreError> {
        let texts = change.messages.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let texts =
            texts.map_err(|error| ConversationStoreError::new("cannot serialize a message").caused_by(error))?;
        let mut transaction = self.0.exclusive().await.map_err(unwritten)?;
        let query = match change.version {
            0 => sqlx::query(
                "INSERT INTO conversations (version, mode, changed, id, mark) VALUES (? + 1, ?, ?, ?, ?) \
                 ON CONFLICT DO NOTHING",
            ),
            _ => sqlx::query(
                "UPDATE conversations SET version = ?1 + 1, mode = ?2, changed = ?3, mark = ?5 WHERE id = ?4 AND version = ?1",
            ),
        };
        let query = query.bind(change.version.cast_signed()).bind(change.mode.as_str());
        let query = query.bind(stamp(SystemTime::now())).bind(conversation).bind(change.mark.cast_signed());
        if query.execute(&mut *transaction).await.map_err(unwritten)?.rows_affected() == 0 {
            return Err(ConversationStoreError::conflict());
        }
        let keep = i64::try_from(change.keep).unwrap_or(i64::MAX);
        sqlx::query("DELETE FROM messages WHERE conversation = ? AND position >= ?")
            .bind(conversation)
            .bind(keep)
            .execute(&mut *transaction)
            .await
            .map_err(unwritten)?;
        for (position, text) in (keep..).zip(&texts) {
            sqlx::query("INSERT INTO messages (conversation, position, message) VALUES (?, ?, ?)")
                .bind(conversation)
                .bind(position)
                .bind(text)
                .execute(&mut *transaction)
                .await
                .map_err(unwritten)?;
        }
        transaction.commit().await.map_err(unwritten)
    }
}

impl ConversationStore for SqliteStore {
    fn load<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Option<SavedConversation>> {
        Box::pin(self.read(conversation))
    }

    fn save<'a>(&'a self, conversation: &'a str, change: ConversationChange<'a>) -> StoreFuture<'a, ()> {
        Box::pin(self.write(conversation, change))
    }

    fn last_change<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Option<(u64, u64)>> {
        Box::pin(async move {
            let found: Option<(i64, i64)> = sqlx::query_as("SELECT version, mark FROM conversations WHERE id = ?")
                .bind(conversation)
                .fetch_optional(&self.0.readers)
                .await
                .map_err(unread)?;
            Ok(found.map(|(version, mark)| (version.cast_unsigned(), mark.cast_unsigned())))
        })
    }

    fn delete<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let deleted =
                sqlx::query("DELETE FROM conversations WHERE id = ?").bind(conversation).execute(&self.0.writer);
            Ok(deleted.await.map_err(unwritten)?.rows_affected() > 0)
        })
    }
}

fn not_opened(error: OpenError) -> ConversationStoreError {
    let words = error.to_string();
    match error {
        OpenError::Path(_, error) => ConversationStoreError::new(format!("the file {words}")).caused_by(error),
        OpenError::Incompatible(words) => ConversationStoreError::new(words),
        OpenError::Unread(_, error) => unread(error),
        OpenError::Unwritten(_, error) => unwritten(error),
    }
}

fn unread(error: sqlx::Error) -> ConversationStoreError {
    ConversationStoreError::new(format!("cannot read conversations: {error}")).caused_by(error)
}

fn unwritten(error: sqlx::Error) -> ConversationStoreError {
    ConversationStoreError::new(format!("cannot save the conversation: {error}")).caused_by(error)
}
