//! The process that watches over a command, after `fork`: system calls only.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait, waitpid};

use super::memory;
use super::raw::{self, AfterFork};

/// Waits for the first process of a namespace. Its end is the end of every process in it.
pub(super) fn wait_for(first: Pid, maps: Option<OwnedFd>, after: &AfterFork) -> ! {
    memory::give_back(maps, after);
    let _ = raw::keep_none(after);
    while matches!(waitpid(Some(first), WaitOptions::empty()), Err(Errno::INTR)) {}
    raw::exit(after)
}

/// Waits until the command ends, and gives its status, or until the host lets go: it asks for that, or it is gone
/// itself. Orphans that end meanwhile are buried.
pub(super) fn until_over(command: Pid, control: BorrowedFd<'_>, after: &AfterFork) -> Option<WaitStatus> {
    let ended = raw::ended_children(after).ok()?;
    memory::give_back(memory::maps(), after);
    loop {
        // One that ended before is still to be heard of: its signal was held.
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

/// Says how the command ended, if it did by itself.
pub(super) fn report(control: BorrowedFd<'_>, status: Option<WaitStatus>) {
    if let Some(status) = status {
        let _ = rustix::io::write(control, &status.as_raw().to_ne_bytes());
    }
}
