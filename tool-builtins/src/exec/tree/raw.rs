//! What no safe wrapper offers, between `fork` and `exec`. All the `unsafe` of this crate is here.
//!
//! A process that was forked off one with several threads may only make system calls: whatever lock another thread
//! held, such as the allocator's, stays locked for ever. Everything that runs there therefore takes an [`AfterFork`],
//! allocates nothing and cannot panic.

#![allow(unsafe_code, reason = "`fork` and what belongs to it have no safe form")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::null_mut;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::Plan;

/// Proof that this process was forked for a command and has one thread.
pub(super) struct AfterFork(());

/// Has a command's process carry out a plan before it becomes the command.
pub(super) fn before_exec(command: &mut Command, plan: Plan) {
    // SAFETY: `Plan::enter` makes system calls only, as the module says.
    unsafe { command.pre_exec(move || plan.enter(&AfterFork(()))) };
}

/// Forks: the child's id in the parent, nothing in the child.
pub(super) fn fork(_: &AfterFork) -> io::Result<Option<Pid>> {
    // SAFETY: this process has one thread, so that its child may do what it may do itself.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child)),
    }
}

/// Ends this process without running anything of the one it was forked from.
///
/// By number, since finding the function by its name may need memory that was [given back](forget).
pub(super) fn exit(_: &AfterFork) -> ! {
    loop {
        // SAFETY: it always is.
        unsafe { libc::syscall(libc::SYS_exit_group, 0) };
    }
}

/// Drops the content of a part of this process's memory. It reads as zeros afterwards.
pub(super) fn forget(_: &AfterFork, start: usize, end: usize) {
    // SAFETY: nothing of the host's heap is used by a supervisor any more, and no other thread is there to use it.
    unsafe { libc::syscall(libc::SYS_madvise, start, end - start, libc::MADV_DONTNEED) };
}

/// Overwrites a part of this process's memory.
pub(super) fn wipe(_: &AfterFork, part: std::ops::Range<usize>) {
    let start = std::ptr::with_exposed_provenance_mut::<u8>(part.start);
    // SAFETY: it is where the kernel has put the environment, above the stack; nothing reads that any more.
    unsafe { start.write_bytes(0, part.len()) };
}

/// Moves this process into new namespaces; the one of processes takes its next child.
pub(super) fn unshare(_: &AfterFork, flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: descriptors are not unshared, and no other thread could notice.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Gives all signals their default effect, and lets none through.
///
/// The host's handlers would run here with descriptors that are not theirs any more.
pub(super) fn hold_signals(_: &AfterFork) -> io::Result<()> {
    let mut all = MaybeUninit::uninit();
    // SAFETY: `sigfillset` initialises the set; the default disposition holds for every signal that allows it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        let done = libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), null_mut());
        for signal in 1..libc::SIGRTMIN() {
            libc::signal(signal, libc::SIG_DFL);
        }
        checked(done.into()).map(drop)
    }
}

/// Lets all signals through again.
pub(super) fn release_signals(_: &AfterFork) -> io::Result<()> {
    let mut none = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises the set.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        checked(libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), null_mut()).into()).map(drop)
    }
}

/// A descriptor that can be read when a child has ended.
pub(super) fn ended_children(_: &AfterFork) -> io::Result<OwnedFd> {
    let mut ended = MaybeUninit::uninit();
    // SAFETY: the set is initialised; a descriptor that the kernel gives belongs to nobody else.
    unsafe {
        libc::sigemptyset(ended.as_mut_ptr());
        libc::sigaddset(ended.as_mut_ptr(), libc::SIGCHLD);
        let descriptor = checked(libc::signalfd(-1, ended.as_ptr(), libc::SFD_NONBLOCK | libc::SFD_CLOEXEC).into())?;
        Ok(OwnedFd::from_raw_fd(descriptor as i32))
    }
}

/// Closes every descriptor but one, which moves to another number. Nothing is kept open by a process that only waits.
pub(super) fn keep_only(_: &AfterFork, kept: BorrowedFd<'_>) -> io::Result<BorrowedFd<'static>> {
    // SAFETY: nothing uses the descriptors of the host here; number 0 stays open as long as this process.
    unsafe {
        checked(libc::dup2(kept.as_raw_fd(), 0).into())?;
        close_from(1, 0)?;
        Ok(BorrowedFd::borrow_raw(0))
    }
}

/// Closes every descriptor.
pub(super) fn keep_none(_: &AfterFork) -> io::Result<()> {
    // SAFETY: as above.
    unsafe { close_from(0, 0) }
}

/// Marks every descriptor but the standard ones to be closed by `exec`.
pub(super) fn inherit_nothing(_: &AfterFork) -> io::Result<()> {
    // SAFETY: nothing is closed before `exec`.
    unsafe { close_from(3, libc::CLOSE_RANGE_CLOEXEC) }
}

/// # Safety
/// Nothing may use these descriptors afterwards, unless they are only marked.
unsafe fn close_from(first: u32, flags: u32) -> io::Result<()> {
    // SAFETY: as the caller promises.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, flags) };
    match checked(done) {
        // Before Linux 5.9, or with a flag before 5.11: one by one.
        Err(_) => {
            let last = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(MANY);
            for descriptor in first..last.min(MANY) as u32 {
                // SAFETY: as the caller promises; what is not open does not matter.
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

/// More descriptors than a process has that runs on a kernel without `close_range`.
const MANY: u64 = 1 << 20;

/// Gives up, for this process and all that it starts, what the rules do not allow.
pub(super) fn restrict(_: &AfterFork, rules: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call takes a descriptor and no pointer.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) }).map(drop)
}

/// Makes everything that is mounted in this namespace read-only.
pub(super) fn make_read_only(_: &AfterFork) -> io::Result<()> {
    // Of `struct mount_attr`: what to set, what to clear, propagation, user namespace.
    let attributes = [MOUNT_ATTR_RDONLY, 0, 0, 0];
    // SAFETY: the attributes have the form and the size that the kernel expects, and live long enough.
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
