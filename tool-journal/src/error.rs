//! SQLite's errors, with what to do about them.

use tool_runtime::journal::JournalErrorKind::{Damaged, Incompatible, NotRunning, Unavailable};
use tool_runtime::journal::{JournalError, JournalErrorKind};
use tool_sqlite::{OpenError, primary_code};

pub(crate) trait ResultExt<T> {
    /// Says what could not be written.
    fn or_unwritten(self, what: &str) -> Result<T, JournalError>;
    /// Says what could not be read.
    fn or_unread(self, what: &str) -> Result<T, JournalError>;
}

impl<T> ResultExt<T> for Result<T, sqlx::Error> {
    fn or_unwritten(self, what: &str) -> Result<T, JournalError> {
        self.map_err(|error| explain(format!("the journal could not {what}"), error))
    }

    fn or_unread(self, what: &str) -> Result<T, JournalError> {
        self.map_err(|error| explain(format!("the journal could not read {what}"), error))
    }
}

pub(crate) fn not_opened(error: OpenError) -> JournalError {
    let words = error.to_string();
    match error {
        OpenError::Path(_, error) => unavailable(format!("the journal {words}")).caused_by(error),
        OpenError::Incompatible(words) => JournalError::new(Incompatible, words),
        OpenError::Unread(what, error) => explain(format!("the journal could not read {what}"), error),
        OpenError::Unwritten(what, error) => explain(format!("the journal could not {what}"), error),
    }
}

pub(crate) fn unavailable(message: impl Into<String>) -> JournalError {
    JournalError::new(Unavailable, message)
}

pub(crate) fn not_running() -> JournalError {
    let message = "the call to be finished has not begun, or was finished before: finish each call once";
    JournalError::new(NotRunning, message)
}

/// A column that holds something else than was once written there.
pub(crate) fn unreadable(what: &str, sequence: i64, error: serde_json::Error) -> JournalError {
    let message = format!(
        "{what} of entry {sequence} of the journal cannot be read: {error}; restore the file from a backup, or move it \
         away to begin a new one"
    );
    JournalError::new(Damaged, message).caused_by(error)
}

fn explain(what: String, error: sqlx::Error) -> JournalError {
    let (kind, remedy) = remedy(&error);
    JournalError::new(kind, format!("{what}: {error}; {remedy}")).caused_by(error)
}

/// SQLite's primary result codes, <https://www.sqlite.org/rescode.html>.
fn remedy(error: &sqlx::Error) -> (JournalErrorKind, &'static str) {
    match primary_code(error) {
        Some(5 | 6) => {
            (Unavailable, "another process has been writing to the file for too long: find out what it does")
        }
        Some(3 | 8 | 14) => (Unavailable, "give the program the right to write to the file and its folder"),
        Some(10) => (Unavailable, "the disk or the file system failed: see the system's log"),
        Some(13) => (Unavailable, "make room on the disk, or `prune` the journal"),
        Some(11 | 26) => (
            Damaged,
            "the file is damaged or no database: restore it from a backup, or move it away to begin a new one",
        ),
        None if matches!(error, sqlx::Error::PoolTimedOut) => {
            (Unavailable, "more calls are recorded than the disk can take: let fewer run at once")
        }
        _ => (Unavailable, "try again, and look into the cause if it stays"),
    }
}
