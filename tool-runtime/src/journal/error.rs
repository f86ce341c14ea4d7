//! What a journal can fail with.

use std::error::Error;
use std::fmt;

/// Why a journal could not do what it was asked. The message says what to do about it.
#[derive(Debug)]
pub struct JournalError {
    kind: JournalErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// Kinds of failure of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalErrorKind {
    /// It cannot be reached or written right now: a full disk, a lock, missing rights.
    Unavailable,
    /// What is stored cannot be read.
    Damaged,
    /// What is stored is of a newer version, or no journal at all.
    Incompatible,
    /// The call that was to be finished has not begun, or has been finished before.
    NotRunning,
}

impl JournalError {
    /// An error in words, which say what to do.
    #[must_use]
    pub fn new(kind: JournalErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same with what caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kind of failure it is.
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
