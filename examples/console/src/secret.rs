//! The key that seals pending calls.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use tool_runtime::confirm::SealingKey;

/// Reads the key from a file, which is created if it does not exist, so that pending calls survive a restart.
///
/// # Errors
/// If the file cannot be read or written, or is too short.
pub fn key(path: &Path) -> io::Result<SealingKey> {
    match create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => created?,
    }
    let too_short = |error| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()));
    SealingKey::try_from(fs::read(path)?).map_err(too_short)
}

/// Creates a file that only its owner can read.
fn create(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    file.write_all(&bytes)
}
