//! Opening of a command's working directory.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

/// Opens a directory beneath another. Symbolic links and `..` cannot lead out of it, even if they change concurrently.
///
/// Makes system calls only, so it is safe after `fork`.
pub(super) fn open_beneath(workspace: impl AsFd, directory: &CStr) -> io::Result<OwnedFd> {
    let directory = if directory.is_empty() { c"." } else { directory };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    // `AGAIN`: something was renamed concurrently, and the kernel cannot tell whether the path led out.
    for _ in 0..TRIES {
        match openat2(workspace.as_fd(), directory, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::NOSYS | Errno::PERM) => return step_by_step(workspace.as_fd(), directory),
            opened => return Ok(opened?),
        }
    }
    Err(Errno::AGAIN.into())
}

const TRIES: usize = 64;

/// Fallback for kernels before Linux 5.6: follows no symbolic links at all.
fn step_by_step(workspace: impl AsFd, directory: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut opened = openat(workspace, c".", flags, Mode::empty())?;
    if directory.to_bytes().starts_with(b"/") {
        return Err(Errno::XDEV.into());
    }
    for name in directory.to_bytes().split(|&byte| byte == b'/') {
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
    fn stays_inside_the_workspace() {
        let outside = tempfile::tempdir().unwrap();
        let workspace = outside.path().join("workspace");
        std::fs::create_dir_all(workspace.join("a/b")).unwrap();
        std::fs::write(workspace.join("file"), "").unwrap();
        std::os::unix::fs::symlink("/", workspace.join("root")).unwrap();
        std::os::unix::fs::symlink("..", workspace.join("up")).unwrap();
        std::os::unix::fs::symlink("a", workspace.join("inside")).unwrap();
        let root = std::fs::File::open(&workspace).unwrap();
        let ways: [Open; 2] =
            [|root, directory| open_beneath(root, directory), |root, directory| step_by_step(root, directory)];
        for open in ways {
            for directory in [".", "", "a", "a/b", "./a//b/"] {
                assert!(open(&root, &c(directory)).is_ok(), "{directory}");
            }
            for directory in ["..", "/", "/etc", "a/../..", "root", "root/etc", "up", "up/workspace/..", "file", "none"]
            {
                assert!(open(&root, &c(directory)).is_err(), "{directory}");
            }
            let proc = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&root));
            assert!(open(&root, &c(&proc)).is_err());
        }
        assert!(open_beneath(&root, c"inside").is_ok());
    }
}
