//! Files for nobody else.

use std::fs::OpenOptions;

/// Makes a file that on Unix only its owner can read, if there is none, to write behind what it has. What a program keeps
/// is not for everybody on the machine; SQLite gives its own files the same rights.
#[must_use]
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
