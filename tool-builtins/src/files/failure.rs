//! What the operating system refuses, in words that help.

use std::io;

use tool_runtime::HandlerError;
use tool_runtime::display::escape;

/// A failure that the model reads.
pub(super) type Outcome<T> = Result<T, HandlerError>;

/// The call fails as it stands; the message says how to make it instead.
pub(super) fn retry<T>(message: impl Into<String>) -> Outcome<T> {
    Err(HandlerError::retry(message))
}

/// A path between quotes, on one line, whatever its name holds.
pub(super) fn quoted(path: &str) -> String {
    format!("`{}`", escape(path))
}

/// Why something could not be done with a path.
pub(super) fn explain(path: &str, error: &io::Error) -> HandlerError {
    let path = quoted(path);
    if is_escape(error) {
        return HandlerError::retry(format!("{path} is outside the workspace, or leads there."));
    }
    match error.kind() {
        io::ErrorKind::NotFound => HandlerError::retry(format!("There is no {path}.")),
        io::ErrorKind::PermissionDenied => {
            HandlerError::failed(format!("{path} may not be accessed: permission denied."))
        }
        io::ErrorKind::IsADirectory => HandlerError::retry(format!("{path} is a folder, not a file.")),
        io::ErrorKind::NotADirectory => HandlerError::retry(format!("Something on the way to {path} is no folder.")),
        io::ErrorKind::InvalidFilename => HandlerError::retry(format!("{path} is no name that a file can have.")),
        io::ErrorKind::InvalidInput => HandlerError::retry(format!("{path} is no path: {error}.")),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            HandlerError::failed(format!("There is no room left on the disk for {path}; it is as it was."))
        }
        io::ErrorKind::ReadOnlyFilesystem => HandlerError::failed(format!("{path} is on a disk that is read-only.")),
        _ if is_loop(error) => HandlerError::retry(format!("{path} leads through symbolic links in a circle.")),
        _ => HandlerError::failed(format!("{path}: {error}.")),
    }
}

/// cap-std's own refusal has no number of the operating system.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP)
}

#[cfg(not(unix))]
fn is_loop(_: &io::Error) -> bool {
    false
}
