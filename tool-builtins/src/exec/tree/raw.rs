//! System calls between `fork` and `exec` that have no safe wrapper. All `unsafe` code of this crate is here.
//!
//! After `fork` in a multi-threaded process only system calls are allowed: a lock that another thread held, such as the
//! allocator's, stays locked. Everything that runs there takes an [`AfterFork`], allocates nothing and cannot panic.

#![allow(unsafe_code, reason = "`fork` and related calls have no safe wrapper")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::null_mut;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::LaunchPlan;

/// Proof that this process was forked for a command and is single-threaded.
pub(super) struct AfterFork(());

/// Registers a plan to be carried out between `fork` and `exec`.
pub(super) fn before_exec(command: &mut Command, plan: LaunchPlan) {
    // SAFETY: `LaunchPlan::enter` makes system calls only, as the module says.
    unsafe { command.pre_exec(move || plan.enter(&AfterFork(()))) };
}

/// Forks. Returns the child's id in the parent and `None` in the child.
pub(super) fn fork(_: &AfterFork) -> io::Result<Option<Pid>> {
    // SAFETY: this process is single-threaded, so its child may make the same calls.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child)),
    }
}

/// Exits without running any exit handlers of the host.
///
/// Uses the system call number, because resolving the C function lazily may need memory that was
/// [released](release_memory).
pub(super) fn exit(_: &AfterFork) -> ! {
    loop {
        // SAFETY: exiting is always sound.
        unsafe { libc::syscall(libc::SYS_exit_group, 0) };
    }
}

/// Releases a range of this process's memory. It reads as zeros afterwards.
pub(super) fn release_memory(_: &AfterFork, start: usize, end: usize) {
    // SAFETY: the supervisor no longer uses the host's heap, and no other thread exists.
    unsafe { libc::syscall(libc::SYS_madvise, start, end - start, libc::MADV_DONTNEED) };
}

/// Overwrites a range of this process's memory with zeros.
pub(super) fn zero_memory(_: &AfterFork, part: std::ops::Range<usize>) {
    let start = std::ptr::with_exposed_provenance_mut::<u8>(part.start);
    // SAFETY: the kernel placed the environment there, above the stack, and nothing reads it any more.
    unsafe { start.write_bytes(0, part.len()) };
}

/// Moves this process into new namespaces. A new PID namespace applies to its next child.
pub(super) fn unshare(_: &AfterFork, flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: file descriptors are not unshared, and no other thread exists.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Resets all signal handlers and blocks all signals.
///
/// The host's handlers would otherwise run here, with file descriptors that no longer belong to them.
pub(super) fn block_signals(_: &AfterFork) -> io::Result<()> {
    let mut all = MaybeUninit::uninit();
    // SAFETY: `sigfillset` initializes the set; `SIG_DFL` is valid for every signal that accepts a disposition.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        let done = libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), null_mut());
        for signal in 1..libc::SIGRTMIN() {
            libc::signal(signal, libc::SIG_DFL);
        }
        checked(done.into()).map(drop)
    }
}

/// Unblocks all signals.
pub(super) fn unblock_signals(_: &AfterFork) -> io::Result<()> {
    let mut none = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initializes the set.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        checked(libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), null_mut()).into()).map(drop)
    }
}

/// Returns a descriptor that becomes readable when a child has exited.
pub(super) fn child_exit_fd(_: &AfterFork) -> io::Result<OwnedFd> {
    let mut ended = MaybeUninit::uninit();
    // SAFETY: the set is initialized; the kernel returns a new descriptor that nothing else owns.
    unsafe {
        libc::sigemptyset(ended.as_mut_ptr());
        libc::sigaddset(ended.as_mut_ptr(), libc::SIGCHLD);
        let descriptor = checked(libc::signalfd(-1, ended.as_ptr(), libc::SFD_NONBLOCK | libc::SFD_CLOEXEC).into())?;
        Ok(OwnedFd::from_raw_fd(descriptor as i32))
    }
}

/// Closes every descriptor except one, which becomes number 0. A waiting process must not keep files open.
pub(super) fn close_all_except(_: &AfterFork, kept: BorrowedFd<'_>) -> io::Result<BorrowedFd<'static>> {
    // SAFETY: the host's descriptors are not used here; number 0 stays open until this process exits.
    unsafe {
        checked(libc::dup2(kept.as_raw_fd(), 0).into())?;
        close_from(1, 0)?;
        Ok(BorrowedFd::borrow_raw(0))
    }
}

/// Closes every descriptor.
pub(super) fn close_all(_: &AfterFork) -> io::Result<()> {
    // SAFETY: as above.
    unsafe { close_from(0, 0) }
}

/// Marks every descriptor except the standard ones close-on-exec.
pub(super) fn set_close_on_exec(_: &AfterFork) -> io::Result<()> {
    // SAFETY: nothing is closed before `exec`.
    unsafe { close_from(3, libc::CLOSE_RANGE_CLOEXEC) }
}

/// Closes all descriptors from `first` on, or marks them close-on-exec.
///
/// # Safety
/// Nothing may use these descriptors afterwards, unless they are only marked.
unsafe fn close_from(first: u32, flags: u32) -> io::Result<()> {
    // SAFETY: as the caller promises.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, flags) };
    match checked(done) {
        // Fallback before Linux 5.9, or 5.11 for the flag: one by one.
        Err(_) => {
            let last = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(MAX_DESCRIPTORS);
            for descriptor in first..last.min(MAX_DESCRIPTORS) as u32 {
                // SAFETY: as the caller promises; descriptors that are not open are ignored.
                unsafe {
                    match flags {
                        0 => libc::close(descriptor as i32),
                        _ => libc::fcntl(descriptor as i32, libc::F_SETFD, libc::FD_CLOEXEC),
                    };
                }
            }
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// An upper bound on descriptors for kernels without `close_range`.
const MAX_DESCRIPTORS: u64 = 1 << 20;

/// Applies a Landlock ruleset to this process and its descendants.
pub(super) fn restrict(_: &AfterFork, rules: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call takes a descriptor and no pointers.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) }).map(drop)
}

/// Makes all mounts of this namespace read-only.
pub(super) fn make_read_only(_: &AfterFork) -> io::Result<()> {
    // The fields of `struct mount_attr`: set, clear, propagation, user namespace.
    let attributes = [MOUNT_ATTR_RDONLY, 0, 0, 0];
    // SAFETY: the attributes have the layout and size that the kernel expects, and outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    checked(done).map(drop)
}

const MOUNT_ATTR_RDONLY: u64 = 1;

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
