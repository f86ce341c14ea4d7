//! Where a command runs: a folder of the workspace, opened once and never looked up again.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

/// Opens a folder below another. No link and no `..` leads out of it, however quickly somebody changes them.
pub(super) fn open_below(workspace: impl AsFd, folder: &Path) -> io::Result<OwnedFd> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    // `AGAIN`: something was renamed meanwhile, and the kernel cannot tell whether it led out.
    for _ in 0..TRIES {
        match openat2(workspace.as_fd(), folder, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::NOSYS | Errno::PERM) => return step_by_step(workspace.as_fd(), folder),
            opened => return Ok(opened?),
        }
    }
    Err(Errno::AGAIN.into())
}

const TRIES: usize = 64;

/// For kernels before Linux 5.6: follows no link at all.
fn step_by_step(workspace: impl AsFd, folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut opened = openat(workspace, c".", flags, Mode::empty())?;
    for component in folder.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => opened = openat(&opened, name, flags, Mode::empty())?,
            _ => return Err(Errno::XDEV.into()),
        }
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Open = fn(&std::fs::File, &Path) -> io::Result<OwnedFd>;

    #[test]
    fn nothing_leads_out() {
        let outside = tempfile::tempdir().unwrap();
        let workspace = outside.path().join("workspace");
        std::fs::create_dir_all(workspace.join("a/b")).unwrap();
        std::fs::write(workspace.join("file"), "").unwrap();
        std::os::unix::fs::symlink("/", workspace.join("root")).unwrap();
        std::os::unix::fs::symlink("..", workspace.join("up")).unwrap();
        std::os::unix::fs::symlink("a", workspace.join("inside")).unwrap();
        let root = std::fs::File::open(&workspace).unwrap();
        let ways: [Open; 2] = [|root, folder| open_below(root, folder), |root, folder| step_by_step(root, folder)];
        for open in ways {
            for folder in [".", "", "a", "a/b", "./a//b/"] {
                assert!(open(&root, Path::new(folder)).is_ok(), "{folder}");
            }
            for folder in ["..", "/", "/etc", "a/../..", "root", "root/etc", "up", "up/workspace/..", "file", "none"] {
                assert!(open(&root, Path::new(folder)).is_err(), "{folder}");
            }
            let proc = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&root));
            assert!(open(&root, Path::new(&proc)).is_err());
        }
        assert!(open_below(&root, Path::new("inside")).is_ok());
    }
}
