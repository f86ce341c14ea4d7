//! The record of calls in SQLite: a [`Journal`] that survives a crash.
//!
//! ```
//! use std::time::Duration;
//! use tool_journal::SqliteJournal;
//! use tool_runtime::journal::{Journal, EntryQuery};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("calls.db");
//! let journal = SqliteJournal::open(path).await?;
//! for entry in journal.entries(EntryQuery::newest(20).conversation("chat-7")).await? {
//!     println!("{} {} {:?}", entry.sequence, entry.tool, entry.state);
//! }
//! // From time to time:
//! journal.prune(Duration::from_secs(90 * 24 * 60 * 60)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What is promised, and what it costs
//! A call is on the disk before its handler runs, and its outcome before the caller sees it. That takes a commit each,
//! and a commit waits for the disk: SQLite runs with a write-ahead log and `synchronous = FULL`. With `NORMAL` it would
//! not wait, and a power cut could forget that a call had started, which would then run again.
//!
//! Whatever happens in between, the journal errs on one side: after a crash a call that had started is
//! [`CallStatus::Unfinished`], even if its handler had in fact not got to do anything.
//!
//! # Several processes
//! Any number of processes of one machine can open the same file; the write-ahead log does not work across machines.
//! Each opening has a number and holds a lock on a file of that number beside the journal (`calls.db-open-7`). The
//! system lets go of the lock when the process ends, however it ends, so a call that has not finished is
//! [`CallStatus::Running`] as long as its process lives, and [`CallStatus::Unfinished`] from the moment it is gone. There is no
//! clock in this, and nothing to tune. The lock files of the dead are removed at the next opening.
//!
//! # Secrets
//! What a tool's definition calls secret has been left out before a call gets here; see
//! [`redact`](tool_runtime::arguments::redact()). A call that waits for a confirmation is kept with its secrets, or it could not run
//! later, but [encrypted](tool_runtime::confirm::SealedCall) with the key of its `Deferred`, which the file does not have. The
//! results of handlers are written as they are. On Unix the file can be read by its owner only.
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
