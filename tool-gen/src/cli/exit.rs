//! Exit status and failures of commands.

use std::fmt;
use std::process::ExitCode;

use tool_gen::{Diagnostic, Severity};

use super::terminal::count;

/// The result type of commands.
pub(super) type Result<T = (), E = CommandFailure> = std::result::Result<T, E>;

/// The exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitStatus {
    /// Success.
    Fine = 0,
    /// The manifest is stale, a change breaks callers, or a finding is denied.
    Objection = 1,
    /// The command failed.
    Error = 2,
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit as u8)
    }
}

/// The reason why a command failed.
#[derive(Debug)]
pub(super) struct CommandFailure {
    message: String,
    help: Option<String>,
    /// The diagnostics of the sources, if they are the reason.
    diagnostics: Vec<Diagnostic>,
}

impl CommandFailure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, diagnostics: Vec::new() }
    }

    /// Creates a failure because of errors in the sources, with its consequence: `nothing was written`.
    pub(super) fn from_diagnostics(diagnostics: Vec<Diagnostic>, consequence: &str) -> Self {
        let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
        Self { diagnostics, ..Self::new(format!("{consequence} because of {}", count(errors, "error"))) }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    pub(super) fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    pub(super) fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for CommandFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<tool_gen::Error> for CommandFailure {
    fn from(error: tool_gen::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<tool_model::ManifestError> for CommandFailure {
    fn from(error: tool_model::ManifestError) -> Self {
        Self::new(error.to_string())
    }
}

/// Adds context to errors.
pub(super) trait FailureContext<T> {
    /// Converts an error to a failure such as `cannot write /tmp/x: no space left on device`.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: fmt::Display> FailureContext<T> for std::result::Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| CommandFailure::new(format!("cannot {}: {error}", what())))
    }
}
