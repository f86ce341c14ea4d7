//! Conversations in a SQLite file.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Sqlite, SqliteConnection, SqlitePool, Transaction};

use super::{Change, Saved, Store, StoreError, Stored};
use crate::{Message, Mode};

/// Marks a SQLite file as one of conversations: the letters `tlag`.
const APPLICATION: i32 = i32::from_be_bytes(*b"tlag");

/// What brings a file from each version to the next; an empty file has version 0.
const MIGRATIONS: &[&str] = &[include_str!("1.sql"), include_str!("2.sql")];

const VERSION: i32 = MIGRATIONS.len() as i32;

/// How long to wait for another process that is writing.
const BUSY: Duration = Duration::from_secs(5);

/// How long to wait before another try to open the file.
const RETRY: Duration = Duration::from_millis(10);

/// How long to wait for a connection, behind this process' own conversations.
const QUEUE: Duration = Duration::from_secs(30);

const READERS: u32 = 4;

/// Conversations in a SQLite file, of any number of processes of one machine. A clone is the same store.
///
/// What is said is on the disk before the loop goes on: what a model asked for before it runs, and what came of it before
/// the model reads it. The file has all of that in the clear, and on Unix can be read by its owner only. Calls that wait
/// for consent are kept elsewhere, encrypted: see [`Deferred`](tool_runtime::Deferred).
#[derive(Clone, Debug)]
pub struct SqliteStore {
    /// SQLite has one writer at a time, and those who wait for it are served in order only by a pool of one.
    writer: SqlitePool,
    readers: SqlitePool,
}

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
        let path = path.as_ref();
        create(path)?;
        let plain = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY);
        // No other database is to be changed, not even in its mode.
        let mut connection = patiently(|| plain.connect()).await.or_unread()?;
        let checked = version(&mut connection).await;
        connection.close().await.or_unread()?;
        checked?;

        let options = plain
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .pragma("fullfsync", "ON")
            .foreign_keys(true);
        let pool = || SqlitePoolOptions::new().acquire_timeout(QUEUE).idle_timeout(None).max_lifetime(None);
        let writer = patiently(|| pool().max_connections(1).connect_with(options.clone())).await.or_unread()?;
        let readers = pool().max_connections(READERS).connect_lazy_with(options.pragma("query_only", "ON"));
        let store = Self { writer, readers };
        let mut transaction = store.exclusive().await?;
        migrate(&mut transaction).await?;
        transaction.commit().await.or_unwritten()?;
        Ok(store)
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
        .fetch_all(&self.readers)
        .await
        .or_unread()?;
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
            sqlx::query("DELETE FROM conversations WHERE changed < ?").bind(stamp(before)).execute(&self.writer);
        Ok(deleted.await.or_unwritten()?.rows_affected())
    }

    /// Writes everything to the file itself and closes it. Dropping the last clone does the same, some time later.
    pub async fn close(self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    async fn exclusive(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        self.writer.begin_with("BEGIN IMMEDIATE").await.or_unwritten()
    }

    async fn read(&self, conversation: &str) -> Result<Option<Saved>, StoreError> {
        // Both are of one moment.
        let mut transaction = self.readers.begin().await.or_unread()?;
        let found: Option<(i64, i64, String)> =
            sqlx::query_as("SELECT version, mark, mode FROM conversations WHERE id = ?")
                .bind(conversation)
                .fetch_optional(&mut *transaction)
                .await
                .or_unread()?;
        let Some((version, mark, mode)) = found else { return Ok(None) };
        let messages: Vec<(String,)> =
            sqlx::query_as("SELECT message FROM messages WHERE conversation = ? ORDER BY position")
                .bind(conversation)
                .fetch_all(&mut *transaction)
                .await
                .or_unread()?;
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
        let mut transaction = self.exclusive().await?;
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
        if query.execute(&mut *transaction).await.or_unwritten()?.rows_affected() == 0 {
            return Err(StoreError::conflict());
        }
        let keep = i64::try_from(change.keep).unwrap_or(i64::MAX);
        sqlx::query("DELETE FROM messages WHERE conversation = ? AND position >= ?")
            .bind(conversation)
            .bind(keep)
            .execute(&mut *transaction)
            .await
            .or_unwritten()?;
        for (position, text) in (keep..).zip(&texts) {
            sqlx::query("INSERT INTO messages (conversation, position, message) VALUES (?, ?, ?)")
                .bind(conversation)
                .bind(position)
                .bind(text)
                .execute(&mut *transaction)
                .await
                .or_unwritten()?;
        }
        transaction.commit().await.or_unwritten()
    }
}

impl Store for SqliteStore {
    fn load<'a>(&'a self, conversation: &'a str) -> Stored<'a, Option<Saved>> {
        Box::pin(self.read(conversation))
    }

    fn save<'a>(&'a self, conversation: &'a str, change: Change<'a>) -> Stored<'a, ()> {
        Box::pin(self.write(conversation, change))
    }

    fn delete<'a>(&'a self, conversation: &'a str) -> Stored<'a, bool> {
        Box::pin(async move {
            let deleted =
                sqlx::query("DELETE FROM conversations WHERE id = ?").bind(conversation).execute(&self.writer);
            Ok(deleted.await.or_unwritten()?.rows_affected() > 0)
        })
    }
}

/// What is said is not for everybody on the machine. SQLite gives its own files the same rights.
fn create(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(|error| {
        let shown = path.display();
        StoreError::new(format!("the file {shown} cannot be opened: {error}; its folder must exist and be writable"))
            .caused_by(error)
    })
}

/// Tries again while the file is locked. SQLite itself does not wait where two who open a new file both change it to the
/// mode in which readers and writers do not hold each other up.
async fn patiently<T, F>(connect: impl Fn() -> F) -> Result<T, sqlx::Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let begun = Instant::now();
    loop {
        match connect().await {
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY => tokio::time::sleep(RETRY).await,
            connected => return connected,
        }
    }
}

/// Whether somebody else has the file locked: SQLite's code 5, and those that say more in their higher bytes.
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<i32>().ok());
    code.is_some_and(|code| code & 0xff == 5)
}

/// Brings the file to this version. The caller has begun a transaction that excludes other writers.
async fn migrate(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let found = version(connection).await?;
    let missing = usize::try_from(found).ok().and_then(|found| MIGRATIONS.get(found..)).unwrap_or_default();
    for migration in missing {
        sqlx::raw_sql(*migration).execute(&mut *connection).await.or_unwritten()?;
    }
    if !missing.is_empty() {
        let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(marks)).execute(connection).await.or_unwritten()?;
    }
    Ok(())
}

/// The version of a file of conversations, or 0 for an empty file.
async fn version(connection: &mut SqliteConnection) -> Result<i32, StoreError> {
    let (application, version, tables): (i32, i32, i32) = sqlx::query_as(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), \
         (SELECT count(*) FROM sqlite_schema)",
    )
    .fetch_one(connection)
    .await
    .or_unread()?;
    match (application, version) {
        (0, 0) if tables == 0 => Ok(0),
        (APPLICATION, version) if version > VERSION => Err(StoreError::new(format!(
            "the file of conversations has version {version}, and this program knows those up to {VERSION}: \
             a newer release has written it; run that one, or open another file"
        ))),
        (APPLICATION, version) if version > 0 => Ok(version),
        _ => Err(StoreError::new("the file is a SQLite database, but none of conversations: open another file")),
    }
}

/// Microseconds since 1970.
fn stamp(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

fn from_stamp(stamp: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(u64::try_from(stamp).unwrap_or_default())
}

/// Puts what went wrong with the file into words.
trait ResultExt<T> {
    fn or_unread(self) -> Result<T, StoreError>;
    fn or_unwritten(self) -> Result<T, StoreError>;
}

impl<T> ResultExt<T> for Result<T, sqlx::Error> {
    fn or_unread(self) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::new(format!("the conversations cannot be read: {error}")).caused_by(error))
    }

    fn or_unwritten(self) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::new(format!("the conversation cannot be kept: {error}")).caused_by(error))
    }
}
