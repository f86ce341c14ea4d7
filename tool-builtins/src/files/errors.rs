//! Error messages for file operations.

use std::io;

use tool_runtime::HandlerError;
use tool_runtime::display::excerpt;

/// The result of a file operation; the model reads the error.
pub(super) type FileResult<T> = Result<T, HandlerError>;

/// Returns a retryable error: the message says how to correct the call.
pub(super) fn retry<T>(message: impl Into<String>) -> FileResult<T> {
    Err(HandlerError::retry(message))
}

/// Quotes a path, shortened and escaped to one line.
pub(super) fn quote_path(path: &str) -> String {
    format!("`{}`", excerpt(path))
}

/// Converts an I/O error into an error message about a path.
pub(super) fn explain(path: &str, error: &io::Error) -> HandlerError {
    let path = quote_path(path);
    if is_escape(error) {
        return HandlerError::retry(format!("{path} is outside the workspace, or leads there."));
    }
    match error.kind() {
        io::ErrorKind::NotFound => HandlerError::retry(format!("{path} does not exist.")),
        io::ErrorKind::PermissionDenied => {
            HandlerError::failed(format!("{path} cannot be accessed: permission denied."))
        }
        io::ErrorKind::IsADirectory => HandlerError::retry(format!("{path} is a directory, not a file.")),
        io::ErrorKind::NotADirectory => HandlerError::retry(format!("A parent of {path} is not a directory.")),
        io::ErrorKind::InvalidFilename => HandlerError::retry(format!("{path} is not a valid file name.")),
        io::ErrorKind::InvalidInput => HandlerError::retry(format!("{path} is not a valid path: {error}.")),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            HandlerError::failed(format!("The disk is full; {path} was not changed."))
        }
        io::ErrorKind::ReadOnlyFilesystem => HandlerError::failed(format!("{path} is on a read-only file system.")),
        _ if is_loop(error) => HandlerError::retry(format!("{path} leads through a loop of symbolic links.")),
        _ => HandlerError::failed(format!("{path}: {error}.")),
    }
}

/// Returns `true` for cap-std's own error about a path that leads out, which has no OS error code.
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
