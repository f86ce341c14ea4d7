//! A server that is a child process.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::last_words::{LastWords, Words};
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

/// How long a server that says nothing more may take to end, to be heard to its end.
const LAST_MOMENT: Duration = Duration::from_millis(200);

/// The longest line of standard error that is logged.
const LONGEST_LINE: u64 = 4 << 10;

/// Starts the program, in a process group of its own.
pub(in crate::remote) fn start(
    server: &str,
    command: &Command,
    longest: usize,
    last_words: &LastWords,
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
    let words = last_words.begin();
    let mut child = process.spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(io::ErrorKind::BrokenPipe.into()) };
    let log = child.stderr.take().map(|stderr| tokio::spawn(log(server.to_owned(), stderr, words.clone())));
    Ok(Lines::new(stdout, stdin, longest, Process { child, log, words, silent_since: None }))
}

/// Logs what the server says on its standard error, line by line; of a long line only the beginning is kept.
async fn log(server: String, stderr: impl AsyncRead + Unpin, words: Arc<Words>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    let mut goes_on = false;
    while let Ok(1..) = (&mut stderr).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
        if !goes_on {
            let text = String::from_utf8_lossy(&line);
            tracing::debug!(target: "tool_mcp::stderr", server, "{}", text.trim_end());
            words.said(&text);
        }
        goes_on = !line.ends_with(b"\n");
        line.clear();
    }
}

/// A process with all that it has started in its group.
pub(in crate::remote) struct Process {
    child: Child,
    /// What listens to its standard error, until that ends.
    log: Option<JoinHandle<()>>,
    words: Arc<Words>,
    /// Since when it has said nothing more.
    silent_since: Option<Instant>,
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

    /// Notes how the process has ended, if it has.
    fn note_end(&self) {
        if let Some(how) = how_it_ended(&self.child) {
            self.words.ended(how);
        }
    }
}

impl Keep for Process {
    async fn fell_silent(&mut self) {
        // This may be dropped and begun again whenever something else happens: the moment is one all the same.
        let until = *self.silent_since.get_or_insert_with(Instant::now) + LAST_MOMENT;
        let heard = async {
            exited(&self.child).await;
            if let Some(log) = &mut self.log {
                drop(log.await);
            }
            self.log = None;
        };
        drop(timeout_at(until, heard).await);
        self.note_end();
    }

    async fn end(&mut self) -> io::Result<()> {
        if timeout(GRACE, exited(&self.child)).await.is_err() {
            #[cfg(unix)]
            {
                self.signal(rustix::process::Signal::TERM);
                drop(timeout(GRACE, exited(&self.child)).await);
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
    while let Some(None) = ended(child) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// How a process has ended that was not waited for yet, if it has, without giving up its number.
#[cfg(unix)]
fn ended(child: &Child) -> Option<Option<rustix::process::WaitIdStatus>> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()))?;
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG).ok()
}

#[cfg(unix)]
fn how_it_ended(child: &Child) -> Option<String> {
    let status = ended(child)??;
    let code = status.exit_status().map(|code| format!("exit status {code}"));
    code.or_else(|| status.terminating_signal().map(|signal| format!("signal {signal}")))
}

#[cfg(not(unix))]
async fn exited(_child: &Child) {
    tokio::time::sleep(GRACE).await;
}

#[cfg(not(unix))]
fn how_it_ended(_child: &Child) -> Option<String> {
    None
}

impl Drop for Process {
    fn drop(&mut self) {
        self.note_end();
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
    }
}
