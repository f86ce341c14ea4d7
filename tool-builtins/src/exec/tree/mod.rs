//! A command with everything that it starts, as one thing that can be ended.
//!
//! A process group does not do: whoever calls `setsid`, or forks twice, leaves it and lives on. So a command runs below
//! a **supervisor**, a process of two or three that are forked for it and never become another program; a library
//! cannot count on a program of its own to start. It waits for two things: the command's end, and the end of the
//! **control** connection, whose other side the host holds. The latter means that the call is over: timed out,
//! cancelled, dropped, or the host itself killed. Either way it leaves nothing behind, in one of two [ways](Way). The
//! host is never a subreaper itself: it would become the parent of processes that are not its own, and would have to
//! tell them apart.
//!
//! Crates were tried instead. `process-wrap` 10.0 kills a process group or session, which a command leaves by `setsid`.
//! `hakoniwa` 1.8 allocates between `fork` and `exec`, which can deadlock in a program with several threads. It also ties
//! the command to the thread that started it (`PR_SET_PDEATHSIG`), and tokio ends idle threads. It always needs user
//! namespaces, and brings 49 crates and the C library libseccomp.

mod memory;
mod mounts;
mod orphans;
mod plan;
mod raw;
mod supervise;

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};

use serde::Serialize;
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::runtime::Handle;

pub(super) use memory::environment;
pub(super) use mounts::MOST;
pub(super) use plan::{Identity, Plan};

/// How everything that a command has started is ended with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// All of it lives in a PID namespace, and the kernel ends it with its first process. Nothing can leave it.
    PidNamespace,
    /// A supervisor inherits the orphans and kills them until none is left. A command can get away by killing the
    /// supervisor, which Landlock prevents from Linux 6.12 on.
    Subreaper,
}

/// A command that runs. Dropped, it is ended in the background.
pub(super) struct Tree {
    inner: Option<Inner>,
}

struct Inner {
    /// The process that was forked first; it ends when nothing else is left.
    supervisor: Child,
    control: UnixStream,
    /// How the command ended, once that is known.
    status: Option<ExitStatus>,
    /// Goes when nobody can write to it any more.
    scratch: TempDir,
}

/// What a command is started from: the program with its arguments and environment, and how it is to run.
pub(super) struct Start {
    pub command: std::process::Command,
    pub plan: Plan,
    /// The host's side of the plan's control.
    pub control: std::os::unix::net::UnixStream,
    pub scratch: TempDir,
}

/// Why a command was not started.
#[derive(Debug)]
pub(super) enum StartError {
    /// The system does not allow namespaces here.
    NoNamespaces,
    /// The plan was only tried, and can be carried out.
    Feasible,
    Other(io::Error),
}

impl Tree {
    /// Starts a command. It takes as long as the host's memory takes to be forked: do it where one may block.
    pub fn start(start: Start) -> Result<(Self, ChildStdout, ChildStderr), StartError> {
        let Start { mut command, plan, control, scratch } = start;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        raw::before_exec(&mut command, plan);
        let mut supervisor =
            tokio::process::Command::from(command).spawn().map_err(|error| match error.raw_os_error() {
                Some(plan::NO_NAMESPACES) => StartError::NoNamespaces,
                Some(plan::FEASIBLE) => StartError::Feasible,
                _ => StartError::Other(error),
            })?;
        control.set_nonblocking(true).map_err(StartError::Other)?;
        let control = UnixStream::from_std(control).map_err(StartError::Other)?;
        let (Some(stdout), Some(stderr)) = (supervisor.stdout.take(), supervisor.stderr.take()) else {
            return Err(StartError::Other(io::Error::other("the pipes are missing")));
        };
        Ok((Self { inner: Some(Inner { supervisor, control, status: None, scratch }) }, stdout, stderr))
    }

    /// Waits until nothing of the command is left; how it ended, unless it was ended.
    pub async fn gone(&mut self) -> Option<ExitStatus> {
        let inner = self.inner.as_mut()?;
        let mut bytes = [0; 4];
        // The four bytes are written at once. After them, or without them, comes the end.
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

    /// Removes what was temporary, when nothing is left that could use it.
    pub async fn clean_up(mut self) {
        if let Some(Inner { scratch, .. }) = self.inner.take() {
            let _ = tokio::task::spawn_blocking(move || drop(scratch)).await;
        }
    }

    /// Has everything ended. It takes a moment: [`gone`](Self::gone) tells when it is.
    pub fn end(&mut self) {
        if let Some(inner) = &self.inner {
            let _ = rustix::net::shutdown(inner.control.as_fd(), rustix::net::Shutdown::Write);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.end();
        let Some(Inner { mut supervisor, control, scratch, .. }) = self.inner.take() else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            let _ = supervisor.wait().await;
            drop(control);
            let _ = tokio::task::spawn_blocking(move || drop(scratch)).await;
        });
    }
}
