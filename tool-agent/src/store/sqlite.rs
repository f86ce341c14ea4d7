//! Conversations in a SQLite file.

use std::path::Path;
use std::time::{Duration, SystemTime};

use tool_sqlite::time::{from_stamp, stamp};
use tool_sqlite::{Database, Kind, OpenError};

use super::{Change, Saved, Store, StoreError, Stored};
use crate::{Message, Mode};

const CONVERSATIONS: Kind = Kind {
    application: *b"tlag",
    name: "the file of conversations",
    others: "none of conversations",
    migrations: &[include_str!("1.sql"), include_str!("2.sql")],
    // What is forgotten is overwritten, not only let go.
    pragmas: &[("secure_delete", "ON")],
    queue: Duration::from_secs(30),
};

/// Conversations in a SQLite file, of any number of processes of one machine. A clone is the same store.
///
/// What is said is on the disk before the loop goes on: what a model asked for before it runs, and what came of it before
/// the model reads it. The file has all of that in the clear, and on Unix can be read by its owner only. What is forgotten
/// is overwritten; the log beside the file may have it until all who have the file open have closed it. Calls that wait
/// for consent are kept elsewhere, encrypted: see [`Deferred`](tool_runtime::confirm::Deferred).
#[derive(Clone, Debug)]
pub struct SqliteStore(Database);

/// A conversation in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// When somebody said something in it last.
    pub changed: SystemTime,
    /// How many messages it has.
    pub messages: u64,
    /// The beginning of what somebody said first, for a title: 200 characters at most.
    pub first: Option<String>,
}

impl SqliteStore {
    /// Opens a file of conversations, and makes it if there is none.
    ///
    /// # Errors
    /// If the file cannot be written, is damaged, is another program's database, or was written by a newer version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        CONVERSATIONS.open(path).await.map(Self).map_err(not_opened)
    }

    /// The conversations that were changed last, the newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn newest(&self, limit: u32) -> Result<Vec<Summary>, StoreError> {
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
        let summary = |(id, changed, messages, first)| Summary {
            id,
            changed: from_stamp(changed),
            messages: u64::try_from(messages).unwrap_or_default(),
            first,
        };
        Ok(found.into_iter().map(summary).collect())
    }

    /// Forgets all conversations in which nobody has said anything for so long. How many there were.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn prune(&self, age: Duration) -> Result<u64, StoreError> {
        let Some(before) = SystemTime::now().checked_sub(age) else { return Ok(0) };
        let deleted =
            sqlx::query("DELETE FROM conversations WHERE changed < ?").bind(stamp(before)).execute(&self.0.writer);
        Ok(deleted.await.map_err(unwritten)?.rows_affected())
    }

    /// Writes everything to the file itself and closes it. Dropping the last clone does the same, some time later.
    pub async fn close(self) {
        self.0.close().await;
    }

    async fn read(&self, conversation: &str) -> Result<Option<Saved>, StoreError> {
        // Both are of one moment.
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
            StoreError::new(format!("a message of the conversation `{conversation}` cannot be read: {error}"))
                .caused_by(error)
        })?;
        // A mode that a newer version has added: the one in which nothing is done.
        let mode = Mode::from_word(&mode).unwrap_or(Mode::Plan);
        Ok(Some(Saved { version: version.cast_unsigned(), mark: mark.cast_unsigned(), mode, messages }))
    }

    async fn write(&self, conversation: &str, change: Change<'_>) -> Result<(), StoreError> {
        let texts = change.messages.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let texts = texts.map_err(|error| StoreError::new("a message cannot be written as JSON").caused_by(error))?;
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
            return Err(StoreError::conflict());
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

impl Store for SqliteStore {
    fn load<'a>(&'a self, conversation: &'a str) -> Stored<'a, Option<Saved>> {
        Box::pin(self.read(conversation))
    }

    fn save<'a>(&'a self, conversation: &'a str, change: Change<'a>) -> Stored<'a, ()> {
        Box::pin(self.write(conversation, change))
    }

    fn last_change<'a>(&'a self, conversation: &'a str) -> Stored<'a, Option<(u64, u64)>> {
        Box::pin(async move {
            let found: Option<(i64, i64)> = sqlx::query_as("SELECT version, mark FROM conversations WHERE id = ?")
                .bind(conversation)
                .fetch_optional(&self.0.readers)
                .await
                .map_err(unread)?;
            Ok(found.map(|(version, mark)| (version.cast_unsigned(), mark.cast_unsigned())))
        })
    }

    fn delete<'a>(&'a self, conversation: &'a str) -> Stored<'a, bool> {
        Box::pin(async move {
            let deleted =
                sqlx::query("DELETE FROM conversations WHERE id = ?").bind(conversation).execute(&self.0.writer);
            Ok(deleted.await.map_err(unwritten)?.rows_affected() > 0)
        })
    }
}

fn not_opened(error: OpenError) -> StoreError {
    let words = error.to_string();
    match error {
        OpenError::Path(_, error) => StoreError::new(format!("the file {words}")).caused_by(error),
        OpenError::Incompatible(words) => StoreError::new(words),
        OpenError::Unread(_, error) => unread(error),
        OpenError::Unwritten(_, error) => unwritten(error),
    }
}

fn unread(error: sqlx::Error) -> StoreError {
    StoreError::new(format!("the conversations cannot be read: {error}")).caused_by(error)
}

fn unwritten(error: sqlx::Error) -> StoreError {
    StoreError::new(format!("the conversation cannot be kept: {error}")).caused_by(error)
}
