//! Conversion of SQLite errors to [`JournalError`] with a suggested fix.

use tool_runtime::journal::JournalErrorKind::{Damaged, Incompatible, NotRunning, Unavailable};
use tool_runtime::journal::{JournalError, JournalErrorKind};
use tool_sqlite::{OpenError, primary_code};

pub(crate) trait ResultExt<T> {
    /// Adds the action that failed, a verb phrase.
    fn or_unwritten(self, what: &str) -> Result<T, JournalError>;
    /// Adds the object that could not be read.
    fn or_unread(self, what: &str) -> Result<T, JournalError>;
}

impl<T> ResultExt<T> for Result<T, sqlx::Error> {
    fn or_unwritten(self, what: &str) -> Result<T, JournalError> {
        self.map_err(|error| explain(format!("the journal failed to {what}"), error))
    }

    fn or_unread(self, what: &str) -> Result<T, JournalError> {
        self.map_err(|error| explain(format!("the journal failed to read {what}"), error))
    }
}

pub(crate) fn not_opened(error: OpenError) -> JournalError {
    let message = error.to_string();
    match error {
        OpenError::Path(_, error) => unavailable(format!("the journal {message}")).caused_by(error),
        OpenError::Incompatible(message) => JournalError::new(Incompatible, message),
        OpenError::Unread(what, error) => explain(format!("the journal failed to read {what}"), error),
        OpenError::Unwritten(what, error) => explain(format!("the journal failed to {what}"), error),
    }
}

pub(crate) fn unavailable(message: impl Into<String>) -> JournalError {
    JournalError::new(Unavailable, message)
}

pub(crate) fn not_running() -> JournalError {
    let message = "the call is not running: begin each call before finishing it, and finish it once";
    JournalError::new(NotRunning, message)
}

/// Reports a column whose content is not what the journal writes.
pub(crate) fn unreadable(what: &str, sequence: i64, error: serde_json::Error) -> JournalError {
    let message = format!(
        "cannot parse {what} of journal entry {sequence}: {error}; restore the file from a backup, or move it away to \
         start a new one"
    );
    JournalError::new(Damaged, message).caused_by(error)
}

fn explain(what: String, error: sqlx::Error) -> JournalError {
    let (kind, remedy) = remedy(&error);
    JournalError::new(kind, format!("{what}: {error}; {remedy}")).caused_by(error)
}

/// Maps SQLite's primary result codes (<https://www.sqlite.org/rescode.html>) to a kind and a suggested fix.
fn remedy(error: &sqlx::Error) -> (JournalErrorKind, &'static str) {
    match primary_code(error) {
        Some(5 | 6) => (Unavailable, "another process has locked the file for too long; find out which one"),
        Some(3 | 8 | 14) => (Unavailable, "the file and its directory must be writable"),
        Some(10) => (Unavailable, "the disk or file system failed; see the system log"),
        Some(13) => (Unavailable, "free disk space, or `prune` the journal"),
        Some(11 | 26) => (
            Damaged,
            "the file is damaged or not a database; restore it from a backup, or move it away to start a new one",
        ),
        None if matches!(error, sqlx::Error::PoolTimedOut) => {
            (Unavailable, "the disk is too slow for the number of calls; lower the concurrency limit")
        }
        _ => (Unavailable, "try again"),
    }
}
