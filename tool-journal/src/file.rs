//! The file, and the connections to it.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};
use tool_runtime::journal::JournalError;

use crate::error::{ResultExt, is_busy, unavailable};
use crate::schema;

/// How long to wait for another process that is writing.
const BUSY: Duration = Duration::from_secs(5);

/// How long to wait before another try to open the file.
const RETRY: Duration = Duration::from_millis(10);

/// How long to wait for a connection, behind this process' own calls.
const QUEUE: Duration = Duration::from_secs(10);

const READERS: u32 = 4;

/// The connections: SQLite has one writer at a time, and those who wait for it are served in order only by a pool of
/// one. Readers are not held up by it.
#[derive(Clone, Debug)]
pub(crate) struct Pools {
    pub(crate) writer: SqlitePool,
    pub(crate) readers: SqlitePool,
}

/// Makes the file if there is none, and gives its full path. Links are followed, as SQLite does: whoever opens the same
/// file must find the same lock files beside it.
pub(crate) fn create(path: &Path) -> Result<PathBuf, JournalError> {
    let full_path = private().open(path).and_then(|_| path.canonicalize());
    full_path.map_err(|error| {
        let shown = path.display();
        unavailable(format!("the journal {shown} cannot be opened: {error}; its folder must exist and be writable"))
            .caused_by(error)
    })
}

/// The record of calls is not for everybody on the machine. SQLite gives its own files the same rights.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Connects, once it is sure that the file is a journal or empty: no other database is to be changed.
pub(crate) async fn connect(path: &Path) -> Result<Pools, JournalError> {
    let plain = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY);
    let mut connection = patiently(|| plain.connect()).await.or_unread("its file")?;
    let checked = schema::check(&mut connection).await;
    connection.close().await.or_unread("its file")?;
    checked?;

    let options = plain
        .journal_mode(SqliteJournalMode::Wal)
        // A commit is on the disk when it returns, on macOS too.
        .synchronous(SqliteSynchronous::Full)
        .pragma("fullfsync", "ON")
        // What is pruned is overwritten, not only forgotten.
        .pragma("secure_delete", "ON");
    let pool = || SqlitePoolOptions::new().acquire_timeout(QUEUE).idle_timeout(None).max_lifetime(None);
    let writer = patiently(|| pool().max_connections(1).connect_with(options.clone())).await.or_unread("its file")?;
    let readers = pool().max_connections(READERS).connect_lazy_with(options.pragma("query_only", "ON"));
    Ok(Pools { writer, readers })
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
