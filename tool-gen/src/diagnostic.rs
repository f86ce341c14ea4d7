//! What a scan has to say, and where.

use std::fmt;
use std::path::PathBuf;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The manifest is right, but says less than the code does.
    Warning,
    /// The manifest lacks something that the code has, or cannot be written.
    Error,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourcePlace {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 when the file as a whole is meant.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// How many characters are meant.
    pub width: usize,
    /// The line itself.
    pub text: String,
}

/// One thing that is wrong, or that could not be seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Where it is.
    pub place: Option<SourcePlace>,
    /// Whether the compiler reports it too, and better: a build script warns of it and leaves the error to rustc.
    pub compile_error: bool,
}

impl fmt::Display for Diagnostic {
    /// One line, as in a build script's warning: place, message, source line, remedy.
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

/// Why a scan could not be made or its manifest not be written.
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

/// As `main` shows it when a build script fails.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
