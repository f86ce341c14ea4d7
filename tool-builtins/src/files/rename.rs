//! `move_file`.

use std::ffi::OsStr;
use std::io;

use cap_std::fs::{Dir, FileType};

use super::failure::{Outcome, explain, quoted, retry};
use super::kind::describe;
use super::workspace::{Parents, Workspace};

/// What is moved.
pub(super) fn source(workspace: &Workspace, path: &str) -> Outcome<FileType> {
    let Some((folder, name)) = workspace.name(path, Parents::Need)? else {
        return retry(format!("There is no {}.", quoted(path)));
    };
    Ok(folder.symlink_metadata(&name).map_err(|error| explain(path, &error))?.file_type())
}

/// What stands where something is moved to, if anything.
pub(super) fn destination(workspace: &Workspace, path: &str, overwrite: bool) -> Outcome<Option<FileType>> {
    let Some((folder, name)) = workspace.name(path, Parents::MayLack)? else { return Ok(None) };
    match folder.symlink_metadata(&name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(explain(path, &error)),
        Ok(found) if found.is_dir() => {
            retry(format!("{} is a folder; give the whole new path, with the name in it.", quoted(path)))
        }
        Ok(found) if overwrite => Ok(Some(found.file_type())),
        Ok(found) if found.is_file() => {
            retry(format!("{} exists already; set `overwrite` to replace it.", quoted(path)))
        }
        Ok(found) => retry(format!("{} exists already and is {}.", quoted(path), describe(found.file_type()))),
    }
}

/// Gives something another name, in one step.
pub(super) fn rename(workspace: &Workspace, from: &str, to: &str, overwrite: bool) -> Outcome<()> {
    let (Some(source), Some(target)) = (workspace.name(from, Parents::Need)?, workspace.name(to, Parents::Make)?)
    else {
        return retry(format!("There is no {}.", quoted(from)));
    };
    let moved = match overwrite {
        true => source.0.rename(&source.1, &target.0, &target.1),
        false => rename_if_free(&source.0, &source.1, &target.0, &target.1),
    };
    moved.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => explain(to, &error),
        io::ErrorKind::CrossesDevices => explain(to, &io::Error::other("it is on another disk")),
        io::ErrorKind::InvalidInput => explain(to, &io::Error::other("a folder cannot be moved into itself")),
        _ => explain(from, &error),
    })
}

/// The kernel looks whether the name is free and takes it, in one step. Both are single names in open folders.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_if_free(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
        Err(Errno::NOSYS | Errno::OPNOTSUPP) => rename_after_looking(from, old, to, new),
        // Some file systems do not know the flag, and say so in the same way as of a folder moved into itself.
        Err(Errno::INVAL) => rename_after_looking(from, old, to, new),
        moved => Ok(moved?),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_if_free(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    rename_after_looking(from, old, to, new)
}

/// Where the system offers nothing better. What comes to stand there in between is replaced.
fn rename_after_looking(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    match to.symlink_metadata(new) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => from.rename(old, to, new),
        Err(error) => Err(error),
    }
}
