//! How a call ended.

/// How a call ended, as a finish hook is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The handler succeeded.
    Success,
    /// The handler answered with an error, or could not run.
    Failed,
    /// The handler panicked.
    Panicked,
    /// The handler did not finish in time.
    TimedOut,
    /// The call was cancelled or dropped, or was only a check.
    Cancelled,
}

impl CallOutcome {
    /// Whether the call's effects are to be kept.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Success
    }
}
