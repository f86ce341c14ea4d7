//! Mounts in a command's namespace, after `fork`: system calls only.
//!
//! `/proc` shows the namespace's processes, and everything is read-only except the writable paths. Landlock already denies
//! most writes, but does not cover permissions, owners, times and attributes; a read-only mount protects those. Landlock
//! in turn keeps a command that runs as root from changing the mounts.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount, open_tree,
};

use super::raw::{self, AfterFork};

/// The maximum number of writable paths. Memory for more cannot be allocated after `fork`.
pub(in super::super) const MAX_WRITABLE: usize = 32;

/// Sets up the mounts of this namespace, and enters the workspace again, which is the working directory.
///
/// If the kernel or the container does not allow it, leaves the mounts unchanged.
pub(super) fn set_up(after: &AfterFork, writable: Option<&[CString]>) -> io::Result<()> {
    if mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).is_err() {
        return Ok(());
    }
    // A container that masks parts of `/proc` does not allow this mount. The host's processes then stay visible.
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ = mount(c"proc", c"/proc", c"proc", flags, None);
    match writable {
        Some(writable) => make_read_only_except(after, writable),
        None => Ok(()),
    }
}

/// Makes everything read-only except the workspace and these paths, whose mounts are put back on top.
fn make_read_only_except(after: &AfterFork, writable: &[CString]) -> io::Result<()> {
    let Ok(workspace) = clone_mount(c".") else { return Ok(()) };
    let mut copies = [const { None::<OwnedFd> }; MAX_WRITABLE];
    for (copied, path) in copies.iter_mut().zip(writable) {
        match clone_mount(path) {
            Ok(tree) => *copied = Some(tree),
            Err(_) => return Ok(()),
        }
    }
    if raw::make_read_only(after).is_err() {
        return Ok(());
    }
    for (copied, path) in copies.iter().flatten().zip(writable) {
        attach_mount(copied, path)?;
    }
    attach_mount(&workspace, c".")?;
    Ok(rustix::process::fchdir(&workspace)?)
}

/// Clones the mount at a path with everything mounted below it.
fn clone_mount(path: &std::ffi::CStr) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags)
}

fn attach_mount(copied: &OwnedFd, path: &std::ffi::CStr) -> rustix::io::Result<()> {
    move_mount(copied, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}
