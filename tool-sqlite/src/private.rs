//! Files that only their owner can read.

use std::fs::OpenOptions;

/// Returns options that open a file for appending and create it if it does not exist. On Unix a new file is accessible to
/// its owner only. SQLite gives its companion files the same permissions.
#[must_use]
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
