//! A command and all its descendants, as one process tree that can be killed.
//!
//! A process group is not enough: a process that calls `setsid` or forks twice escapes from it. So every command runs
//! under a **supervisor**: one or two forked processes that never `exec`, since a library cannot rely on a helper program
//! being installed. The supervisor waits for the command to exit or for the **control** connection to close. The host
//! holds the other end of that connection; it closes when the call times out, is cancelled or dropped, or when the host
//! itself is killed. In either case the supervisor kills the remaining processes, by one of two [methods](ProcessCleanup). The host never
//! becomes a subreaper itself: it would adopt unrelated processes and could not tell them apart.
//!
//! Crates were tried instead. `process-wrap` 10.0 kills a process group or session, which a command leaves by `setsid`.
//! `hakoniwa` 1.8 allocates between `fork` and `exec`, which can deadlock in a program with several threads. It also ties
//! the command to the thread that started it (`PR_SET_PDEATHSIG`), and tokio ends idle threads. It always needs user
//! namespaces, and brings 49 crates and the C library libseccomp.

mod memory;
mod mounts;
mod plan;
mod raw;
mod supervisor;

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};

use serde::Serialize;
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::runtime::Handle;

pub(super) use memory::environment_range;
pub(super) use mounts::MAX_WRITABLE;
pub(super) use plan::{LaunchPlan, UserMapping};

/// The method that kills the descendants of a command when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessCleanup {
    /// The command runs in a PID namespace. The kernel kills all of it with its first process; nothing can escape.
    PidNamespace,
    /// A supervisor adopts orphaned descendants and kills them until none is left. A command can escape by killing the
    /// supervisor; Landlock prevents that from Linux 6.12 on.
    Subreaper,
}

/// The processes of a running command. Dropping it kills them in the background.
pub(super) struct ProcessTree {
    inner: Option<RunningTree>,
}

struct RunningTree {
    /// The process forked first. It exits when no other process of the tree is left.
    supervisor: Child,
    control: UnixStream,
    /// The exit status of the command, once it is known.
    status: Option<ExitStatus>,
    /// Removed once no process can write to it any more.
    scratch: TempDir,
}

/// Everything needed to start a command: the program with its arguments and environment, and its plan.
pub(super) struct TreeStart {
    pub command: std::process::Command,
    pub plan: LaunchPlan,
    /// The host's end of the control connection.
    pub control: std::os::unix::net::UnixStream,
    pub scratch: TempDir,
}

/// The reason why a command was not started.
#[derive(Debug)]
pub(super) enum LaunchError {
    /// The system does not allow namespaces.
    NoNamespaces,
    /// The plan was only probed, and is feasible.
    Feasible,
    Other(io::Error),
}

impl ProcessTree {
    /// Starts a command. Blocks while the host's memory map is copied by `fork`.
    pub fn start(start: TreeStart) -> Result<(Self, ChildStdout, ChildStderr), LaunchError> {
        let TreeStart { mut command, plan, control, scratch } = start;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        raw::before_exec(&mut command, plan);
        let mut supervisor =
            tokio::process::Command::from(command).spawn().map_err(|error| match error.raw_os_error() {
                Some(plan::NO_NAMESPACES) => LaunchError::NoNamespaces,
                Some(plan::FEASIBLE) => LaunchError::Feasible,
                _ => LaunchError::Other(error),
            })?;
        control.set_nonblocking(true).map_err(LaunchError::Other)?;
        let control = UnixStream::from_std(control).map_err(LaunchError::Other)?;
        let (Some(stdout), Some(stderr)) = (supervisor.stdout.take(), supervisor.stderr.take()) else {
            return Err(LaunchError::Other(io::Error::other("the output pipes are missing")));
        };
        Ok((Self { inner: Some(RunningTree { supervisor, control, status: None, scratch }) }, stdout, stderr))
    }

    /// Waits until no process is left. Returns the command's exit status, unless it was killed through [`kill`](Self::kill).
    pub async fn wait(&mut self) -> Option<ExitStatus> {
        let inner = self.inner.as_mut()?;
        let mut bytes = [0; 4];
        // The status arrives as four bytes at once. The end of the stream follows.
        while inner.control.readable().await.is_ok() {
            match inner.control.try_read(&mut bytes) {
                Ok(4) => inner.status = Some(ExitStatus::from_raw(i32::from_ne_bytes(bytes))),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(_) | Err(_) => break,
            }
        }
        let _ = inner.supervisor.wait().await;
        inner.status
    }

    /// Removes the scratch directory. Call it once no process is left.
    pub async fn clean_up(mut self) {
        if let Some(RunningTree { scratch, .. }) = self.inner.take() {
            let _ = tokio::task::spawn_blocking(move || drop(scratch)).await;
        }
    }

    /// Kills all processes. Returns at once; [`wait`](Self::wait) waits for their end.
    pub fn kill(&mut self) {
        if let Some(inner) = &self.inner {
            let _ = rustix::net::shutdown(inner.control.as_fd(), rustix::net::Shutdown::Write);
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
        let Some(RunningTree { mut supervisor, control, scratch, .. }) = self.inner.take() else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            let _ = supervisor.wait().await;
            drop(control);
            let _ = tokio::task::spawn_blocking(move || drop(scratch)).await;
        });
    }
}
