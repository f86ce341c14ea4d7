//! The outcome of a call, as finish hooks see it.

use crate::ErrorKind;

/// The end of a call, as a [finish hook](crate::Builder::finish) sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The handler succeeded.
    Success,
    /// The handler returned an error, or could not run.
    Failed,
    /// The handler panicked.
    Panicked,
    /// The handler did not finish in time.
    TimedOut,
    /// The call was cancelled or dropped, or was only a check or a preview.
    Cancelled,
}

impl CallOutcome {
    /// Returns `true` if the effects of the call are to be kept.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Success
    }

    pub(crate) fn from_failure(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Panicked => Self::Panicked,
            ErrorKind::TimedOut | ErrorKind::OutcomeUnknown => Self::TimedOut,
            ErrorKind::Cancelled => Self::Cancelled,
            _ => Self::Failed,
        }
    }
}
