//! Servers as child processes.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::stderr_tail::{ProcessTail, StderrTail};
use crate::lines::{LineTransport, StreamEnd};
use crate::remote::endpoint::CommandEndpoint;

/// The inherited environment variables: those that programs need. Others may hold secrets.
const INHERITED: &[&str] = &[
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    // Windows.
    "APPDATA",
    "COMSPEC",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// The time to exit after its input was closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// The time to wait for exit status and standard error after the program has closed its output.
const EXIT_WAIT: Duration = Duration::from_millis(200);

/// The longest line of standard error that is logged.
const MAX_LINE_LENGTH: u64 = 4 << 10;

/// Starts the program in a new process group.
pub(in crate::remote) fn start(
    server: &str,
    command: &CommandEndpoint,
    longest: usize,
    stderr: &StderrTail,
) -> io::Result<LineTransport<ChildStdout, ChildStdin, ChildProcess>> {
    let mut process = tokio::process::Command::new(&command.program);
    process.args(&command.args).env_clear();
    process.envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    process.envs(&command.env);
    if let Some(directory) = &command.current_dir {
        process.current_dir(directory);
    }
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    process.process_group(0);
    let tail = stderr.start();
    let mut child = process.spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(io::ErrorKind::BrokenPipe.into()) };
    let log = child.stderr.take().map(|stderr| tokio::spawn(log_stderr(server.to_owned(), stderr, tail.clone())));
    Ok(LineTransport::new(stdout, stdin, longest, ChildProcess { child, log, tail, eof_since: None }))
}

/// Logs the standard error, line by line. Only the start of a long line is kept.
async fn log_stderr(server: String, stderr: impl AsyncRead + Unpin, tail: Arc<ProcessTail>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    let mut is_continued = false;
    while let Ok(1..) = (&mut stderr).take(MAX_LINE_LENGTH).read_until(b'\n', &mut line).await {
        if !is_continued {
            let text = String::from_utf8_lossy(&line);
            tracing::debug!(target: "tool_mcp::stderr", server, "{}", text.trim_end());
            tail.push(&text);
        }
        is_continued = !line.ends_with(b"\n");
        line.clear();
    }
}

/// A process and its process group.
pub(in crate::remote) struct ChildProcess {
    child: Child,
    /// The task that reads the standard error, until it ends.
    log: Option<JoinHandle<()>>,
    tail: Arc<ProcessTail>,
    /// The time when the process closed its output.
    eof_since: Option<Instant>,
}

impl ChildProcess {
    /// Signals the whole group, unless the process was already reaped and its id may be reused.
    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let group = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        if let Some(group) = group {
            // The group may have ended meanwhile.
            let _ended = rustix::process::kill_process_group(group, signal);
        }
    }

    /// Records the exit status, if the process has ended.
    fn record_exit(&self) {
        if let Some(exit) = exit_description(&self.child) {
            self.tail.set_exit(exit);
        }
    }
}

impl StreamEnd for ChildProcess {
    async fn on_eof(&mut self) {
        // This future may be dropped and created again; the deadline stays the same.
        let until = *self.eof_since.get_or_insert_with(Instant::now) + EXIT_WAIT;
        let ended = async {
            exited(&self.child).await;
            if let Some(log) = &mut self.log {
                drop(log.await);
            }
            self.log = None;
        };
        drop(timeout_at(until, ended).await);
        self.record_exit();
    }

    async fn close(&mut self) -> io::Result<()> {
        if timeout(GRACE, exited(&self.child)).await.is_err() {
            #[cfg(unix)]
            {
                self.signal(rustix::process::Signal::TERM);
                drop(timeout(GRACE, exited(&self.child)).await);
            }
        }
        // Its children may still run. The group is killed before the process is reaped, while its id is valid.
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        self.child.kill().await
    }
}

/// Waits until the process has ended, without reaping it.
#[cfg(unix)]
async fn exited(child: &Child) {
    while let Some(None) = exit_status(child) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the exit status of a process without reaping it: `None` if it was reaped, `Some(None)` while it runs.
#[cfg(unix)]
fn exit_status(child: &Child) -> Option<Option<rustix::process::WaitIdStatus>> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()))?;
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG).ok()
}

#[cfg(unix)]
fn exit_description(child: &Child) -> Option<String> {
    let status = exit_status(child)??;
    let code = status.exit_status().map(|code| format!("exit status {code}"));
    code.or_else(|| status.terminating_signal().map(|signal| format!("signal {signal}")))
}

#[cfg(not(unix))]
async fn exited(_child: &Child) {
    tokio::time::sleep(GRACE).await;
}

#[cfg(not(unix))]
fn exit_description(_child: &Child) -> Option<String> {
    None
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.record_exit();
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
    }
}
