//! Errors of journals.

use std::error::Error;
use std::fmt;

/// The error of a journal. Its message says what to do about it.
#[derive(Debug)]
pub struct JournalError {
    kind: JournalErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// Kinds of journal errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalErrorKind {
    /// The journal cannot be read or written now: a full disk, a lock, missing permissions.
    Unavailable,
    /// The stored data is damaged.
    Damaged,
    /// The stored data is of a newer version or not a journal.
    Incompatible,
    /// The call to finish has not begun, or was finished before.
    NotRunning,
}

impl JournalError {
    /// Creates an error with a message that says what to do.
    #[must_use]
    pub fn new(kind: JournalErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Sets the cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind of error.
    #[must_use]
    pub fn kind(&self) -> JournalErrorKind {
        self.kind
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for JournalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
