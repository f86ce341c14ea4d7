//! How a command ends.

use std::fmt;
use std::process::ExitCode;

use tool_gen::{Diagnostic, Severity};

use super::terminal::count;

/// What a command gives back.
pub(super) type Result<T = (), E = CommandFailure> = std::result::Result<T, E>;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitStatus {
    /// All is well.
    Fine = 0,
    /// The manifest is stale, a change breaks callers, or a finding is denied.
    Objection = 1,
    /// The command could not do its work.
    Error = 2,
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(super) struct CommandFailure {
    message: String,
    help: Option<String>,
    /// What is wrong with the sources, if it is they.
    diagnostics: Vec<Diagnostic>,
}

impl CommandFailure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, diagnostics: Vec::new() }
    }

    /// The sources have errors, and therefore something was not done: `nothing is written`.
    pub(super) fn from_diagnostics(diagnostics: Vec<Diagnostic>, consequence: &str) -> Self {
        let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
        Self { diagnostics, ..Self::new(format!("{consequence}, because of {}", count(errors, "error"))) }
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

/// Says what was being done when something outside failed.
pub(super) trait FailureContext<T> {
    /// For example: `cannot write /tmp/x: no space left on device`.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: fmt::Display> FailureContext<T> for std::result::Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| CommandFailure::new(format!("cannot {}: {error}", what())))
    }
}
