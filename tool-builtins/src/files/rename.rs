//! The `move_file` tool.

use std::ffi::OsStr;
use std::io;

use cap_std::fs::{Dir, FileType};

use super::errors::{FileResult, explain, quote_path, retry};
use super::file_rule::describe;
use super::workspace::{MissingParents, Workspace};

/// Returns the type of the file to be moved.
pub(super) fn source(workspace: &Workspace, path: &str) -> FileResult<FileType> {
    let Some((directory, name)) = workspace.name(path, MissingParents::Require)? else {
        return retry(format!("{} does not exist.", quote_path(path)));
    };
    Ok(directory.symlink_metadata(&name).map_err(|error| explain(path, &error))?.file_type())
}

/// Returns the type of the file at the destination, if there is one that may be overwritten.
pub(super) fn destination(workspace: &Workspace, path: &str, overwrite: bool) -> FileResult<Option<FileType>> {
    let Some((directory, name)) = workspace.name(path, MissingParents::Allow)? else { return Ok(None) };
    match directory.symlink_metadata(&name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(explain(path, &error)),
        Ok(found) if found.is_dir() => {
            retry(format!("{} is a directory; pass the full new path, including the name.", quote_path(path)))
        }
        Ok(found) if overwrite => Ok(Some(found.file_type())),
        Ok(found) if found.is_file() => {
            retry(format!("{} already exists; set `overwrite` to replace it.", quote_path(path)))
        }
        Ok(found) => retry(format!("{} already exists and is {}.", quote_path(path), describe(found.file_type()))),
    }
}

/// Renames a file or directory atomically.
pub(super) fn rename(workspace: &Workspace, from: &str, to: &str, overwrite: bool) -> FileResult<()> {
    let (Some(source), Some(target)) =
        (workspace.name(from, MissingParents::Require)?, workspace.name(to, MissingParents::Create)?)
    else {
        return retry(format!("{} does not exist.", quote_path(from)));
    };
    let moved = match overwrite {
        true => source.0.rename(&source.1, &target.0, &target.1),
        false => rename_no_replace(&source.0, &source.1, &target.0, &target.1),
    };
    moved.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => explain(to, &error),
        io::ErrorKind::CrossesDevices => explain(to, &io::Error::other("it is on another file system")),
        io::ErrorKind::InvalidInput => explain(to, &io::Error::other("a directory cannot be moved into itself")),
        _ => explain(from, &error),
    })
}

/// Renames only if the new name is free, which the kernel checks in the same step.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_no_replace(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
        Err(Errno::NOSYS | Errno::OPNOTSUPP) => rename_after_check(from, old, to, new),
        // File systems without support for the flag return the same error as for a directory moved into itself.
        Err(Errno::INVAL) => rename_after_check(from, old, to, new),
        moved => Ok(moved?),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_no_replace(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    rename_after_check(from, old, to, new)
}

/// Fallback without kernel support. A file created between the check and the rename is replaced.
fn rename_after_check(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    match to.symlink_metadata(new) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => from.rename(old, to, new),
        Err(error) => Err(error),
    }
}
