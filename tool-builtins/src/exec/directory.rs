//! Where a command runs: a folder of the workspace, opened once and never looked up again.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

/// Opens a folder below another. No link and no `..` leads out of it, however quickly somebody changes them.
///
/// It makes system calls only, so that it can also be done after `fork`.
pub(super) fn open_below(workspace: impl AsFd, folder: &CStr) -> io::Result<OwnedFd> {
    let folder = if folder.is_empty() { c"." } else { folder };
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
fn step_by_step(workspace: impl AsFd, folder: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut opened = openat(workspace, c".", flags, Mode::empty())?;
    if folder.to_bytes().starts_with(b"/") {
        return Err(Errno::XDEV.into());
    }
    for name in folder.to_bytes().split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => return Err(Errno::XDEV.into()),
            name => opened = openat(&opened, name, flags, Mode::empty())?,
        }
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    type Open = fn(&std::fs::File, &CStr) -> io::Result<OwnedFd>;

    fn c(text: &str) -> CString {
        CString::new(text).unwrap()
    }

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
                assert!(open(&root, &c(folder)).is_ok(), "{folder}");
            }
            for folder in ["..", "/", "/etc", "a/../..", "root", "root/etc", "up", "up/workspace/..", "file", "none"] {
                assert!(open(&root, &c(folder)).is_err(), "{folder}");
            }
            let proc = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&root));
            assert!(open(&root, &c(&proc)).is_err());
        }
        assert!(open_below(&root, c"inside").is_ok());
    }
}
