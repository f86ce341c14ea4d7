//! Signals that cannot hit the wrong process.

use std::io;

/// Asks a process to end, or kills it.
///
/// Process ids are reused. So this takes a handle of the process, then `is_meant` checks that it is the intended one,
/// and the signal is sent through the handle.
///
/// # Errors
/// If there is no such process, if it may not be ended, or if it is not the intended one: [`io::ErrorKind::NotFound`].
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

/// Only Linux has process handles.
#[cfg(not(target_os = "linux"))]
pub fn end(_pid: u32, _force: bool, _is_meant: impl FnOnce() -> bool) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "processes are ended on Linux only"))
}
