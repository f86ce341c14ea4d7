//! SQLite files of a program's own: for any number of processes of one machine, brought to the version that the program
//! knows, and never another program's.
//!
//! ```
//! use std::time::Duration;
//! use tool_sqlite::Kind;
//!
//! const NOTES: Kind = Kind {
//!     application: *b"note",
//!     name: "the file of notes",
//!     others: "none of notes",
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
//! A commit is on the disk when it returns, and on Unix the file can be read by its owner only. A write that fails because
//! the disk is full, or for any other reason, leaves nothing behind: the next one goes well once there is room again.

mod database;
mod error;
mod kind;
mod patience;
mod private;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
mod version;

pub use database::Database;
pub use error::{OpenError, primary_code};
pub use kind::Kind;
pub use private::private;
