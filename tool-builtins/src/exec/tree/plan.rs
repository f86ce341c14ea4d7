//! What a process does between `fork` and `exec`.

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

use super::super::confine::give_up;
use super::super::directory::open_below;
use super::raw::{self, AfterFork};
use super::{Way, memory, mounts, orphans, supervise};

/// How a command comes to run, confined and watched over. Everything in it was made before the fork.
pub(in super::super) struct Plan {
    pub way: Way,
    /// The workspace.
    pub workspace: Arc<OwnedFd>,
    /// The folder of it that the command runs in.
    pub folder: CString,
    /// What stays writable besides the workspace where everything else is made read-only.
    pub writable: Option<Vec<CString>>,
    /// Landlock's rules, where the kernel has it.
    pub rules: Option<OwnedFd>,
    /// The filter that refuses the network, if it is to be refused.
    pub no_network: Option<BpfProgram>,
    /// Where the supervisor hears that it is to stop, and says how the command ended.
    pub control: UnixStream,
    /// Where the host's environment lies in its memory, and so in that of whoever is forked off it.
    pub environment: Range<usize>,
    /// Whose process it is, as the kernel wants to hear it where namespaces need a user's of their own.
    pub identity: Identity,
    /// Only tries whether it could: ends with [`FEASIBLE`] in place of the command.
    pub only_tried: bool,
}

/// What the host reads where namespaces are not allowed. No failure of `exec` has this number.
pub(super) const NO_NAMESPACES: i32 = libc::EUSERS;
/// What the host reads where a plan could have been carried out.
pub(super) const FEASIBLE: i32 = libc::ECANCELED;

/// The maps of a user namespace in which everybody is who they were.
pub(in super::super) struct Identity {
    user: String,
    group: String,
}

impl Identity {
    pub fn of_this_process() -> Self {
        let user = rustix::process::geteuid().as_raw();
        let group = rustix::process::getegid().as_raw();
        Self { user: format!("{user} {user} 1"), group: format!("{group} {group} 1") }
    }
}

impl Plan {
    /// Returns in the process that becomes the command. Those that watch over it never return.
    pub(super) fn enter(&self, after: &AfterFork) -> io::Result<()> {
        raw::hold_signals(after)?;
        // The kernel shows it under `/proc`, and those who watch over the command are there for it to see. It has its
        // own, which was made before.
        raw::wipe(after, self.environment.clone());
        // Without a terminal the command can neither read the host's input nor type into it.
        setsid()?;
        // A namespace's own mounts take the place of those that something was opened on, but only for what has been
        // entered.
        fchdir(&self.workspace)?;
        match self.way {
            Way::PidNamespace => self.enter_namespace(after)?,
            Way::Subreaper => self.enter_below_subreaper(after)?,
        }
        fchdir(open_below(CWD, &self.folder)?)?;
        if self.only_tried {
            return Err(io::Error::from_raw_os_error(FEASIBLE));
        }
        self.confine(after)
    }

    /// Three processes: one outside that the host waits for, the namespace's first process, and the command.
    ///
    /// The command is not the first process itself, since signals mean something else to that one, and orphans come
    /// to it. When the first process ends, the kernel ends all the others, whatever they have done to get away.
    fn enter_namespace(&self, after: &AfterFork) -> io::Result<()> {
        self.unshare(after).map_err(|_| io::Error::from_raw_os_error(NO_NAMESPACES))?;
        // Soon `/proc` shows the namespace, in which this process is not.
        let maps = memory::maps();
        if let Some(first) = raw::fork(after)? {
            supervise::wait_for(first, maps, after);
        }
        let writable = self.writable.as_deref();
        mounts::arrange(after, writable).map_err(|_| io::Error::from_raw_os_error(NO_NAMESPACES))?;
        if let Some(command) = raw::fork(after)? {
            let Ok(control) = raw::keep_only(after, self.control.as_fd()) else { raw::exit(after) };
            let status = supervise::until_over(command, control, after);
            supervise::report(control, status);
            raw::exit(after);
        }
        Ok(())
    }

    /// Two processes: a supervisor that becomes the parent of every orphan below it, and the command.
    fn enter_below_subreaper(&self, after: &AfterFork) -> io::Result<()> {
        set_child_subreaper(Some(getpid()))?;
        if let Some(command) = raw::fork(after)? {
            let Ok(control) = raw::keep_only(after, self.control.as_fd()) else { raw::exit(after) };
            let status = supervise::until_over(command, control, after);
            orphans::end_all();
            supervise::report(control, status);
            raw::exit(after);
        }
        Ok(())
    }

    /// Who may not make namespaces may still do so as the only user of a user namespace, on most systems.
    fn unshare(&self, after: &AfterFork) -> io::Result<()> {
        let mut flags = UnshareFlags::NEWPID | UnshareFlags::NEWNS;
        if self.no_network.is_some() {
            flags |= UnshareFlags::NEWNET;
        }
        if raw::unshare(after, flags).is_ok() {
            return Ok(());
        }
        raw::unshare(after, flags | UnshareFlags::NEWUSER)?;
        // Kernels before 3.19 have no such file, and do not ask for it.
        let _ = write(c"/proc/self/setgroups", "deny");
        write(c"/proc/self/uid_map", &self.identity.user)?;
        write(c"/proc/self/gid_map", &self.identity.group)
    }

    /// What the command gives up, in its own process, and before anything of it runs.
    fn confine(&self, after: &AfterFork) -> io::Result<()> {
        setsid()?;
        raw::release_signals(after)?;
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        rustix::thread::set_no_new_privs(true)?;
        give_up()?;
        if let Some(rules) = &self.rules {
            raw::restrict(after, rules.as_fd())?;
        }
        if let Some(filter) = &self.no_network {
            seccompiler::apply_filter(filter).map_err(|_| io::Error::from_raw_os_error(libc::ENOSYS))?;
        }
        raw::inherit_nothing(after)
    }
}

fn write(path: &CStr, text: &str) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes())?;
    Ok(())
}
