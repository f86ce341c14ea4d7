//! What a command's namespace shows of the file system, after `fork`: system calls only.
//!
//! Its own processes under `/proc`, and everything read-only but what may be written. Landlock refuses most of that
//! already; it does not know permissions, owners, times and attributes, which a read-only mount keeps as they are.
//! And it is Landlock that keeps a command which runs as root from mounting things otherwise.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount, open_tree,
};

use super::raw::{self, AfterFork};

/// As many paths can be left writable. There is no memory to be had for more.
pub(in super::super) const MOST: usize = 32;

/// Arranges the mounts of this namespace, in which the working directory is the workspace, and enters it again.
///
/// A kernel or a container that allows none of it leaves everything as it was.
pub(super) fn arrange(after: &AfterFork, writable: Option<&[CString]>) -> io::Result<()> {
    if mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).is_err() {
        return Ok(());
    }
    // A container that hides parts of `/proc` does not allow it. Then the host's processes stay visible.
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ = mount(c"proc", c"/proc", c"proc", flags, None);
    match writable {
        Some(writable) => protect_all_but(after, writable),
        None => Ok(()),
    }
}

/// Makes everything read-only but the workspace and these paths, which are put back on top as they were.
fn protect_all_but(after: &AfterFork, writable: &[CString]) -> io::Result<()> {
    let Ok(workspace) = copy(c".") else { return Ok(()) };
    let mut copies = [const { None::<OwnedFd> }; MOST];
    for (copied, path) in copies.iter_mut().zip(writable) {
        match copy(path) {
            Ok(tree) => *copied = Some(tree),
            Err(_) => return Ok(()),
        }
    }
    if raw::make_read_only(after).is_err() {
        return Ok(());
    }
    for (copied, path) in copies.iter().flatten().zip(writable) {
        put(copied, path)?;
    }
    put(&workspace, c".")?;
    Ok(rustix::process::fchdir(&workspace)?)
}

/// A part of the file system with all that is mounted below it.
fn copy(path: &std::ffi::CStr) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags)
}

fn put(copied: &OwnedFd, path: &std::ffi::CStr) -> rustix::io::Result<()> {
    move_mount(copied, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}
