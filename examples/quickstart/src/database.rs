//! An in-memory SQLite database.

use sqlx::SqlitePool;
use sqlx::sqlite::SqlitePoolOptions;

/// Opens an empty database with its table.
///
/// The pool keeps exactly one connection, because each connection to `:memory:` is a separate database. Calls that need
/// a session therefore wait for one another; with a file or a server, use more connections.
pub async fn open() -> sqlx::Result<SqlitePool> {
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect("sqlite::memory:")
        .await?;
    sqlx::query(
        "CREATE TABLE points (host TEXT NOT NULL, at TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY (host, at))",
    )
    .execute(&pool)
    .await?;
    Ok(pool)
}
