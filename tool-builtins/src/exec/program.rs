//! From a program's name to its file.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What runs a line.
pub(super) const SHELL: &str = "/bin/sh";

/// The file of a program: a name on the path, or a path itself, relative to a directory.
pub(super) fn find(program: &str, path: &OsStr, directory: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(directory.join(program)).filter(|file| is_program(file));
    }
    std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
