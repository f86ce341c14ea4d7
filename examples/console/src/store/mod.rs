//! What the console keeps, in a SQLite file of its data folder.

mod alerts;
mod categories;
mod events;
mod points;
mod session;

use std::path::Path;
use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

pub use alerts::{Alert, AlertRepository, AlertState};
pub use categories::CategoryRepository;
pub use events::{InternetEvent, InternetEventRepository, Outage};
pub use points::{MetricName, MetricPoint, MetricPointRepository, MetricSummary};
pub use session::Session;

/// What brings a file from each version to the next; an empty file has version 0.
const MIGRATIONS: &[&str] = &[include_str!("1.sql")];

/// How long to wait for another process, and behind this one's own calls.
const PATIENCE: Duration = Duration::from_secs(10);

/// The file. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Store {
    pool: SqlitePool,
}

impl Store {
    /// Opens the file, and makes it if there is none.
    ///
    /// # Errors
    /// When it cannot be written, is no database, or was written by a newer version.
    pub async fn open(path: &Path) -> sqlx::Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A power cut may take the last points with it, and nothing else.
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(PATIENCE);
        // SQLite has one writer at a time, and those who wait for it are served in order only by a pool of one.
        let pool = SqlitePoolOptions::new().max_connections(1).acquire_timeout(PATIENCE).idle_timeout(None);
        let pool = pool.max_lifetime(None).connect_with(options).await?;
        migrate(&pool).await?;
        Ok(Self { pool })
    }

    /// A session, which becomes a transaction with its first statement.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(self.pool.clone())
    }

    /// Writes everything to the file itself and closes it.
    pub async fn close(self) {
        self.pool.close().await;
    }
}

async fn migrate(pool: &SqlitePool) -> sqlx::Result<()> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let (found,): (i64,) = sqlx::query_as("PRAGMA user_version").fetch_one(&mut *transaction).await?;
    let missing = usize::try_from(found).ok().and_then(|found| MIGRATIONS.get(found..)).ok_or_else(|| {
        let known = MIGRATIONS.len();
        let message = format!(
            "the file has version {found}, and this program knows those up to {known}: a newer one has written it"
        );
        sqlx::Error::Configuration(message.into())
    })?;
    for migration in missing {
        sqlx::raw_sql(*migration).execute(&mut *transaction).await?;
    }
    let version = format!("PRAGMA user_version = {}", MIGRATIONS.len());
    sqlx::raw_sql(sqlx::AssertSqlSafe(version)).execute(&mut *transaction).await?;
    transaction.commit().await
}
