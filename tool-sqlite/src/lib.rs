//! Opens SQLite files that any number of processes on one machine share, and migrates them to the current schema version.
//! Files of other programs are never changed.
//!
//! ```
//! use std::time::Duration;
//! use tool_sqlite::FileKind;
//!
//! const NOTES: FileKind = FileKind {
//!     application: *b"note",
//!     name: "the file of notes",
//!     others: "not a file of notes",
//!     migrations: &["CREATE TABLE notes (text TEXT NOT NULL)"],
//!     pragmas: &[],
//!     queue: Duration::from_secs(10),
//! };
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("notes.db");
//! let notes = NOTES.open(path).await?;
//! sqlx::query("INSERT INTO notes VALUES ('Buy milk')").execute(&notes.writer).await?;
//! let (count,): (i64,) = sqlx::query_as("SELECT count(*) FROM notes").fetch_one(&notes.readers).await?;
//! assert_eq!(count, 1);
//! # Ok(())
//! # }
//! ```
//!
//! A commit is durable when it returns. On Unix the file is readable by its owner only. A write that fails, such as
//! because the disk is full, is rolled back, and later writes succeed once there is space again.

mod database;
mod error;
mod kind;
mod private;
mod retry;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
mod version;

pub use database::Database;
pub use error::{OpenError, primary_code};
pub use kind::FileKind;
pub use private::private;
