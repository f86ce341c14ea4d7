//! A [`Journal`] in a SQLite file, which survives crashes.
//!
//! ```
//! use std::time::Duration;
//! use tool_journal::SqliteJournal;
//! use tool_runtime::journal::{Journal, EntryQuery};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("calls.db");
//! let journal = SqliteJournal::open(path).await?;
//! for entry in journal.entries(EntryQuery::newest(20).conversation("chat-7")).await? {
//!     println!("{} {} {:?}", entry.sequence, entry.tool, entry.state);
//! }
//! // Periodically:
//! journal.prune(Duration::from_secs(90 * 24 * 60 * 60)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Durability
//! A call is on disk before its handler runs, and its outcome before the caller sees it. Each takes a commit that waits
//! for the disk: SQLite runs with a write-ahead log and `synchronous = FULL`. With `NORMAL` a commit would not wait, and a
//! power failure could lose the start of a call, which would then run again.
//!
//! After a crash, a call that had started is [`CallStatus::Unfinished`], even if its handler had no effect yet.
//!
//! # Several processes
//! Any number of processes on one machine can open the same file. The write-ahead log does not work across machines.
//! Each opening has a number and holds a lock on a file with that number next to the journal (`calls.db-open-7`). The
//! operating system releases the lock when the process ends, even in a crash. A call without an outcome is therefore
//! [`CallStatus::Running`] while its process is alive and [`CallStatus::Unfinished`] afterwards, without timeouts or
//! heartbeats. Stale lock files are removed by the next opening.
//!
//! # Secrets
//! Secret arguments are redacted before a call reaches the journal; see [`redact`](tool_runtime::arguments::redact()). A
//! pending call is stored with its secrets, which it needs to run later, but
//! [encrypted](tool_runtime::confirm::SealedCall) with the key of its `Deferred`, which is not in the file. Results of
//! handlers are stored unchanged. On Unix the file is readable by its owner only.
//!
//! [`Journal`]: tool_runtime::journal::Journal
//! [`CallStatus::Running`]: tool_runtime::journal::CallStatus::Running
//! [`CallStatus::Unfinished`]: tool_runtime::journal::CallStatus::Unfinished

mod entries;
mod error;
mod opening;
mod pending;
mod prune;
mod record;
mod sqlite;

pub use sqlite::SqliteJournal;
