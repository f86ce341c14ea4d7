//! Why a file is not opened.

use std::error::Error;
use std::path::PathBuf;
use std::{fmt, io};

/// Why a file could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// It cannot be made or written.
    Path(PathBuf, io::Error),
    /// It is another program's database, or a newer release has written it. In words, with what to do.
    Incompatible(String),
    /// Something could not be read: `its version`.
    Unread(&'static str, sqlx::Error),
    /// Something could not be done: `create its tables`.
    Unwritten(&'static str, sqlx::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path, error) => {
                write!(f, "{} cannot be opened: {error}; its folder must exist and be writable", path.display())
            }
            Self::Incompatible(words) => f.write_str(words),
            Self::Unread(what, error) => write!(f, "it could not read {what}: {error}"),
            Self::Unwritten(what, error) => write!(f, "it could not {what}: {error}"),
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

/// SQLite's primary result code, <https://www.sqlite.org/rescode.html>; those that say more do so in their higher bytes.
#[must_use]
pub fn primary_code(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error().and_then(|error| error.code()?.parse::<i32>().ok()).map(|code| code & 0xff)
}
