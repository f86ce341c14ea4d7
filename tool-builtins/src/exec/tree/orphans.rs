//! Ends every child of a subreaper, and theirs, which become its own, until none is left: system calls only.

use std::mem::MaybeUninit;

use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};
use rustix::thread::{NanosleepRelativeResult, Timespec, nanosleep};

/// Ends all children. Only the kernel can say that there are none, and it does when there is none to wait for.
pub(super) fn end_all() {
    loop {
        if !kill_listed() {
            kill_found();
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        pause();
    }
}

/// Kills the children that the kernel lists; false if it has no such list.
///
/// It is quick, so that processes that fork and leave all the time are caught between the two.
fn kill_listed() -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(file) = openat(CWD, c"/proc/thread-self/children", flags, Mode::empty()) else { return false };
    let mut pid = 0;
    let mut buffer = [0; 4096];
    loop {
        let length = match rustix::io::read(&file, &mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(length) => length,
        };
        for &byte in buffer.iter().take(length) {
            match byte {
                b'0'..=b'9' => pid = next_digit(pid, byte),
                _ => kill(std::mem::take(&mut pid)),
            }
        }
    }
    kill(pid);
    true
}

/// Kills the children that are found by looking at every process.
fn kill_found() {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(processes) = openat(CWD, c"/proc", flags, Mode::empty()) else { return };
    let this = getpid().as_raw_nonzero().get();
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut entries = RawDir::new(&processes, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        let name = entry.file_name().to_bytes();
        if name.first().is_some_and(u8::is_ascii_digit) {
            let Ok(process) = openat(&processes, entry.file_name(), flags, Mode::empty()) else { continue };
            let Ok(stat) = openat(&process, c"stat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else { continue };
            let mut text = [0; 512];
            let length = rustix::io::read(&stat, &mut text).unwrap_or(0);
            if parent(text.get(..length).unwrap_or_default()) == this {
                kill(name.iter().fold(0, |pid, &digit| next_digit(pid, digit)));
            }
        }
    }
}

/// The parent in `pid (name) state parent ..`; a name may hold parentheses and spaces.
fn parent(stat: &[u8]) -> i32 {
    let after_name = stat.iter().rposition(|&byte| byte == b')').map_or(stat.len(), |place| place + 1);
    let mut words = stat.get(after_name..).unwrap_or_default().split(|&byte| byte == b' ').filter(|w| !w.is_empty());
    words.nth(1).unwrap_or_default().iter().fold(0, |pid, &digit| next_digit(pid, digit))
}

fn next_digit(number: i32, digit: u8) -> i32 {
    number.wrapping_mul(10).wrapping_add(i32::from(digit.wrapping_sub(b'0')))
}

fn kill(pid: i32) {
    if pid > 0
        && let Some(pid) = Pid::from_raw(pid)
    {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Lets the killed end.
fn pause() {
    let short = Timespec { tv_sec: 0, tv_nsec: 200_000 };
    while let NanosleepRelativeResult::Interrupted(_) = nanosleep(&short) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a process of its own: others have children too.
    #[test]
    fn children_are_found_with_and_without_a_list() {
        let test = "exec::tree::orphans::tests::both_ways";
        let this = std::env::current_exe().unwrap();
        let output = std::process::Command::new(this).args([test, "--exact", "--ignored"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    }

    #[test]
    #[ignore = "kills all children of its process: the test above runs it in one of its own"]
    fn both_ways() {
        use std::os::unix::process::ExitStatusExt;
        let kill_listed: fn() = || assert!(kill_listed());
        for kill in [kill_listed, kill_found] {
            let sleeping = || std::process::Command::new("sleep").arg("600").spawn().unwrap();
            let mut children: Vec<_> = (0..20).map(|_| sleeping()).collect();
            kill();
            assert!(children.iter_mut().all(|child| child.wait().unwrap().signal() == Some(libc::SIGKILL)));
        }
    }

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent(b"12 (sh) S 34 12 12 0"), 34);
        assert_eq!(parent(b"12 (a) S 7 (b) R 56 12"), 56);
        assert_eq!(parent(b""), 0);
    }
}
