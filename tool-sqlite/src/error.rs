//! Errors of opening a file.

use std::error::Error;
use std::path::PathBuf;
use std::{fmt, io};

/// Error of opening a file.
#[derive(Debug)]
pub enum OpenError {
    /// The file cannot be created or written.
    Path(PathBuf, io::Error),
    /// The file is another program's database, or was written by a newer release. Contains the message.
    Incompatible(String),
    /// Reading failed. The string names the object: `its version`.
    Unread(&'static str, sqlx::Error),
    /// Writing failed. The string names the action: `create its tables`.
    Unwritten(&'static str, sqlx::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path, error) => {
                write!(f, "{} cannot be opened: {error}; its directory must exist and be writable", path.display())
            }
            Self::Incompatible(message) => f.write_str(message),
            Self::Unread(what, error) => write!(f, "failed to read {what}: {error}"),
            Self::Unwritten(what, error) => write!(f, "failed to {what}: {error}"),
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Path(_, error) => Some(error),
            Self::Incompatible(_) => None,
            Self::Unread(_, error) | Self::Unwritten(_, error) => Some(error),
        }
    }
}

/// Returns SQLite's primary result code, without the higher bytes of extended codes
/// (<https://www.sqlite.org/rescode.html>).
#[must_use]
pub fn primary_code(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error().and_then(|error| error.code()?.parse::<i32>().ok()).map(|code| code & 0xff)
}
