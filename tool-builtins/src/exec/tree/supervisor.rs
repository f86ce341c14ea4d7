//! The processes that supervise a command, after `fork`: system calls only.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait, waitpid};
use rustix::thread::{NanosleepRelativeResult, Timespec, nanosleep};

use super::memory;
use super::raw::{self, AfterFork};

/// Waits for the first process of a namespace. When it exits, all processes of the namespace are gone.
pub(super) fn wait_for_namespace(first: Pid, maps: Option<OwnedFd>, after: &AfterFork) -> ! {
    memory::release(maps, after);
    let _ = raw::close_all(after);
    while matches!(waitpid(Some(first), WaitOptions::empty()), Err(Errno::INTR)) {}
    raw::exit(after)
}

/// Waits until the command exits and returns its status, or returns `None` once the host closes the control connection
/// or is gone. Reaps orphans that exit meanwhile.
pub(super) fn wait_for_command(command: Pid, control: BorrowedFd<'_>, after: &AfterFork) -> Option<WaitStatus> {
    let ended = raw::child_exit_fd(after).ok()?;
    memory::release(memory::maps(), after);
    loop {
        // The signal of a child that exited earlier is still pending, because signals are blocked.
        let mut ready = [PollFd::new(&control, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return None,
        }
        if !ready[0].revents().is_empty() {
            return None;
        }
        let mut signal = [0; 128];
        while rustix::io::read(ended.as_fd(), &mut signal).is_ok() {}
        while let Ok(Some((child, status))) = wait(WaitOptions::NOHANG) {
            if child == command {
                return Some(status);
            }
        }
    }
}

/// Sends the command's exit status to the host, if it exited on its own.
pub(super) fn report(control: BorrowedFd<'_>, status: Option<WaitStatus>) {
    if let Some(status) = status {
        let _ = rustix::io::write(control, &status.as_raw().to_ne_bytes());
    }
}

/// Kills all children and the orphans that replace them, until the kernel reports that no child is left to wait for.
pub(super) fn kill_children() {
    loop {
        if !kill_listed() {
            kill_scanned();
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

/// Kills the children that the kernel lists. Returns `false` if it provides no list.
///
/// It is fast enough to catch processes that keep forking and exiting.
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

/// Kills the children found by scanning all processes.
fn kill_scanned() {
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
            if parent_pid(text.get(..length).unwrap_or_default()) == this {
                kill(name.iter().fold(0, |pid, &digit| next_digit(pid, digit)));
            }
        }
    }
}

/// Parses the parent's id from `pid (name) state parent ..`; the name may contain parentheses and spaces.
fn parent_pid(stat: &[u8]) -> i32 {
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

/// Gives killed processes time to exit.
fn pause() {
    let short = Timespec { tv_sec: 0, tv_nsec: 200_000 };
    while let NanosleepRelativeResult::Interrupted(_) = nanosleep(&short) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the test below in its own process, since other tests have children too.
    #[test]
    fn kills_all_children_with_and_without_a_list() {
        let test = "exec::tree::supervisor::tests::kills_all_children";
        let this = std::env::current_exe().unwrap();
        let output = std::process::Command::new(this).args([test, "--exact", "--ignored"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    }

    #[test]
    #[ignore = "kills all children of its process; the test above runs it in a separate one"]
    fn kills_all_children() {
        use std::os::unix::process::ExitStatusExt;
        let kill_listed: fn() = || assert!(kill_listed());
        for kill in [kill_listed, kill_scanned] {
            let sleeping = || std::process::Command::new("sleep").arg("600").spawn().unwrap();
            let mut children: Vec<_> = (0..20).map(|_| sleeping()).collect();
            kill();
            assert!(children.iter_mut().all(|child| child.wait().unwrap().signal() == Some(libc::SIGKILL)));
        }
    }

    #[test]
    fn parses_the_parent_after_any_name() {
        assert_eq!(parent_pid(b"12 (sh) S 34 12 12 0"), 34);
        assert_eq!(parent_pid(b"12 (a) S 7 (b) R 56 12"), 56);
        assert_eq!(parent_pid(b""), 0);
    }
}
