//! The steps of a process between `fork` and `exec`.

use std::ffi::{CStr, CString};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{Resource, Rlimit, fchdir, getpid, set_child_subreaper, setrlimit, setsid};
use rustix::thread::UnshareFlags;
use seccompiler::BpfProgram;

use super::super::confine::drop_capabilities;
use super::super::directory::open_beneath;
use super::raw::{self, AfterFork};
use super::{ProcessCleanup, memory, mounts, supervisor};

/// The steps that start a command under supervision and confine it. Everything in it is allocated before `fork`.
pub(in super::super) struct LaunchPlan {
    pub cleanup: ProcessCleanup,
    /// The workspace directory.
    pub workspace: Arc<OwnedFd>,
    /// The command's working directory, relative to the workspace.
    pub directory: CString,
    /// The paths that stay writable besides the workspace. `None` leaves the mounts writable as they are.
    pub writable: Option<Vec<CString>>,
    /// The Landlock ruleset, if the kernel supports it.
    pub rules: Option<OwnedFd>,
    /// The seccomp filter that blocks the network, if it is to be blocked.
    pub no_network: Option<BpfProgram>,
    /// The supervisor's end of the control connection: receives the request to stop, and sends the exit status.
    pub control: UnixStream,
    /// The address range of the host's environment, which forked processes inherit.
    pub environment: Range<usize>,
    /// The user and group for a user namespace, where one is needed.
    pub identity: UserMapping,
    /// Ends with [`FEASIBLE`] instead of running the command.
    pub probe: bool,
}

/// The error number that reports missing namespaces. `exec` never fails with it.
pub(super) const NO_NAMESPACES: i32 = libc::EUSERS;
/// The error number that reports a feasible plan.
pub(super) const FEASIBLE: i32 = libc::ECANCELED;

/// The id maps of a user namespace in which the current user and group keep their ids.
pub(in super::super) struct UserMapping {
    user: String,
    group: String,
}

impl UserMapping {
    pub fn for_current_user() -> Self {
        let user = rustix::process::geteuid().as_raw();
        let group = rustix::process::getegid().as_raw();
        Self { user: format!("{user} {user} 1"), group: format!("{group} {group} 1") }
    }
}

impl LaunchPlan {
    /// Prepares this process for `exec`. Returns only in the process that becomes the command; supervisors never return.
    pub(super) fn enter(&self, after: &AfterFork) -> io::Result<()> {
        raw::block_signals(after)?;
        // `/proc` shows the environment of the supervisors to the command. The command's own was copied before.
        raw::zero_memory(after, self.environment.clone());
        // Without a controlling terminal the command can neither read the host's input nor inject any.
        setsid()?;
        // A namespace gets its own copies of the mounts. Only the working directory follows them, open descriptors do
        // not.
        fchdir(&self.workspace)?;
        match self.cleanup {
            ProcessCleanup::PidNamespace => self.enter_namespace(after)?,
            ProcessCleanup::Subreaper => self.enter_below_subreaper(after)?,
        }
        fchdir(open_beneath(CWD, &self.directory)?)?;
        if self.probe {
            return Err(io::Error::from_raw_os_error(FEASIBLE));
        }
        self.confine(after)
    }

    /// Forks into three processes: one outside the namespace that the host waits for, the namespace's first process, and
    /// the command.
    ///
    /// The command is not the first process, because signals work differently there and orphans are reparented to it.
    /// When the first process exits, the kernel kills all others.
    fn enter_namespace(&self, after: &AfterFork) -> io::Result<()> {
        self.unshare(after).map_err(|_| io::Error::from_raw_os_error(NO_NAMESPACES))?;
        // Afterwards `/proc` shows the namespace, which does not include this process.
        let maps = memory::maps();
        if let Some(first) = raw::fork(after)? {
            supervisor::wait_for_namespace(first, maps, after);
        }
        let writable = self.writable.as_deref();
        mounts::set_up(after, writable).map_err(|_| io::Error::from_raw_os_error(NO_NAMESPACES))?;
        if let Some(command) = raw::fork(after)? {
            let Ok(control) = raw::close_all_except(after, self.control.as_fd()) else { raw::exit(after) };
            let status = supervisor::wait_for_command(command, control, after);
            supervisor::report(control, status);
            raw::exit(after);
        }
        Ok(())
    }

    /// Forks into two processes: a supervisor that adopts every orphan below it, and the command.
    fn enter_below_subreaper(&self, after: &AfterFork) -> io::Result<()> {
        set_child_subreaper(Some(getpid()))?;
        if let Some(command) = raw::fork(after)? {
            let Ok(control) = raw::close_all_except(after, self.control.as_fd()) else { raw::exit(after) };
            let status = supervisor::wait_for_command(command, control, after);
            supervisor::kill_children();
            supervisor::report(control, status);
            raw::exit(after);
        }
        Ok(())
    }

    /// Creates the namespaces. Unprivileged users can do so on most systems inside a new user namespace.
    fn unshare(&self, after: &AfterFork) -> io::Result<()> {
        let mut flags = UnshareFlags::NEWPID | UnshareFlags::NEWNS;
        if self.no_network.is_some() {
            flags |= UnshareFlags::NEWNET;
        }
        if raw::unshare(after, flags).is_ok() {
            return Ok(());
        }
        raw::unshare(after, flags | UnshareFlags::NEWUSER)?;
        // Kernels before 3.19 do not have this file and do not require it.
        let _ = write(c"/proc/self/setgroups", "deny");
        write(c"/proc/self/uid_map", &self.identity.user)?;
        write(c"/proc/self/gid_map", &self.identity.group)
    }

    /// Confines the command, in its own process, before any of its code runs.
    fn confine(&self, after: &AfterFork) -> io::Result<()> {
        setsid()?;
        raw::unblock_signals(after)?;
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        rustix::thread::set_no_new_privs(true)?;
        drop_capabilities()?;
        if let Some(rules) = &self.rules {
            raw::restrict(after, rules.as_fd())?;
        }
        if let Some(filter) = &self.no_network {
            seccompiler::apply_filter(filter).map_err(|_| io::Error::from_raw_os_error(libc::ENOSYS))?;
        }
        raw::set_close_on_exec(after)
    }
}

fn write(path: &CStr, text: &str) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes())?;
    Ok(())
}
