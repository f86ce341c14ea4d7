//! Diagnostics of a scan, and the error type.

use std::fmt;
use std::path::PathBuf;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The manifest is correct but less detailed than the code.
    Warning,
    /// The manifest lacks a tool, or cannot be written.
    Error,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourcePlace {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The number of characters.
    pub width: usize,
    /// The text of the line.
    pub text: String,
}

/// A problem in the sources, or a part of them that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The message, without the place.
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
    /// The place in the source.
    pub place: Option<SourcePlace>,
    /// `true` if rustc reports the problem as well. A build script then only warns and leaves the error to rustc.
    pub compile_error: bool,
}

impl fmt::Display for Diagnostic {
    /// Writes one line, as for a build script's warning: place, message, source line, suggestion.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}", place.file.display())?;
            if place.line > 0 {
                write!(f, ":{}:{}", place.line, place.column)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)?;
        if let Some(place) = &self.place
            && !place.text.trim().is_empty()
        {
            write!(f, ": `{}`", place.text.trim())?;
        }
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// The reason why a scan failed, or its manifest was not written.
pub struct Error(String);

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Shows the message, because `main` prints the `Debug` form when a build script fails.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
