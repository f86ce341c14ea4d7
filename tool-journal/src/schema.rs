//! The tables, and which version of them a file has.

use sqlx::SqliteConnection;
use tool_runtime::journal::JournalError;

use crate::error::{ResultExt, incompatible};

/// Marks a SQLite file as a journal: the letters `tljr`.
const APPLICATION: i32 = i32::from_be_bytes(*b"tljr");

/// What brings a file from each version to the next; an empty file has version 0.
const MIGRATIONS: &[&str] = &[include_str!("schema/1.sql")];

const VERSION: i32 = MIGRATIONS.len() as i32;

/// Whether the file is a journal that this version can read, or empty.
pub(crate) async fn check(connection: &mut SqliteConnection) -> Result<(), JournalError> {
    version(connection).await.map(drop)
}

/// Brings the file to this version. The caller has begun a transaction that excludes other writers.
pub(crate) async fn migrate(connection: &mut SqliteConnection) -> Result<(), JournalError> {
    let found = version(connection).await?;
    let missing = usize::try_from(found).ok().and_then(|found| MIGRATIONS.get(found..)).unwrap_or_default();
    for migration in missing {
        sqlx::raw_sql(*migration).execute(&mut *connection).await.or_unwritten("create its tables")?;
    }
    if !missing.is_empty() {
        let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(marks)).execute(connection).await.or_unwritten("create its tables")?;
    }
    Ok(())
}

async fn version(connection: &mut SqliteConnection) -> Result<i32, JournalError> {
    let (application, version, tables): (i32, i32, i32) = sqlx::query_as(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), \
         (SELECT count(*) FROM sqlite_schema)",
    )
    .fetch_one(connection)
    .await
    .or_unread("its version")?;
    match (application, version) {
        (0, 0) if tables == 0 => Ok(0),
        (APPLICATION, version) if version > VERSION => Err(incompatible(format!(
            "the journal has version {version}, and this program knows those up to {VERSION}: \
             a newer release has written it; run that one, or open another file"
        ))),
        (APPLICATION, version) if version > 0 => Ok(version),
        _ => Err(incompatible("the file is a SQLite database, but no journal of calls: open another file")),
    }
}
