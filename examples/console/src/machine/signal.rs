//! Signals to processes, sent to the process that was meant.

use std::io;

/// Asks a process to end, or ends it.
///
/// The number of a process is given to another one once it is gone. So the process is taken hold of first, then
/// `is_meant` looks whether it is the one that was meant, and the signal goes to what is held, or nowhere.
///
/// # Errors
/// When there is no such process, when it may not be ended, and when it is not the one that was meant:
/// [`io::ErrorKind::NotFound`].
#[cfg(target_os = "linux")]
pub fn end(pid: u32, force: bool, is_meant: impl FnOnce() -> bool) -> io::Result<()> {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    let held = pidfd_open(pid, PidfdFlags::empty())?;
    if !is_meant() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let signal = if force { Signal::KILL } else { Signal::TERM };
    Ok(pidfd_send_signal(held, signal)?)
}

/// Only Linux can take hold of a process.
#[cfg(not(target_os = "linux"))]
pub fn end(_pid: u32, _force: bool, _is_meant: impl FnOnce() -> bool) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "processes are ended on Linux only"))
}
