//! A server that is a child process.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::lines::{Keep, Lines};
use crate::remote::reached::Command;

/// What programs cannot do without. The rest of the environment may hold secrets that are not the server's business.
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

/// How long a server may take to end once its input is closed, and again once it is told to.
const GRACE: Duration = Duration::from_secs(2);

/// The longest line of standard error that is logged.
const LONGEST_LINE: u64 = 4 << 10;

/// Starts the program, in a process group of its own.
pub(in crate::remote) fn start(
    server: &str,
    command: &Command,
    longest: usize,
) -> io::Result<Lines<ChildStdout, ChildStdin, Process>> {
    let mut process = tokio::process::Command::new(&command.program);
    process.args(&command.args).env_clear();
    process.envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    process.envs(&command.env);
    if let Some(folder) = &command.folder {
        process.current_dir(folder);
    }
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    process.process_group(0);
    let mut child = process.spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(io::ErrorKind::BrokenPipe.into()) };
    if let Some(stderr) = child.stderr.take() {
        tokio::spawn(log(server.to_owned(), stderr));
    }
    Ok(Lines::new(stdout, stdin, longest, Process { child }))
}

/// Logs what the server says on its standard error, line by line; of a long line only the beginning is kept.
async fn log(server: String, stderr: impl AsyncRead + Unpin) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut stderr).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
        let text = String::from_utf8_lossy(&line);
        tracing::debug!(target: "tool_mcp::stderr", server, "{}", text.trim_end());
        line.clear();
    }
}

/// A process with all that it has started in its group.
pub(in crate::remote) struct Process {
    child: Child,
}

impl Process {
    /// Tells the whole group, as long as the process that gave it its number has not been waited for.
    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let group = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        if let Some(group) = group {
            // It may have ended meanwhile.
            let _ended = rustix::process::kill_process_group(group, signal);
        }
    }
}

impl Keep for Process {
    async fn end(&mut self) -> io::Result<()> {
        if tokio::time::timeout(GRACE, exited(&self.child)).await.is_err() {
            #[cfg(unix)]
            {
                self.signal(rustix::process::Signal::TERM);
                drop(tokio::time::timeout(GRACE, exited(&self.child)).await);
            }
        }
        // What it has started may still run: the group is ended before its number is given up.
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        self.child.kill().await
    }
}

/// Waits until the process has ended, without giving up its number.
#[cfg(unix)]
async fn exited(child: &Child) {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) else { return };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while let Ok(None) = waitid(WaitId::Pid(pid), options) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[cfg(not(unix))]
async fn exited(_child: &Child) {
    tokio::time::sleep(GRACE).await;
}

impl Drop for Process {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
    }
}
