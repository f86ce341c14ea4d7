//! Running a command until none of its processes is left, and reporting how it ended.

use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tool_runtime::display::excerpt;
use tool_runtime::{CancellationToken, HandlerError, Progress};

use super::command::RequestedCommand;
use super::confine::Confinement;
use super::launch::StartedCommand;
use super::output::{OutputReader, OutputStream, Transcript};

/// The time to wait, after the command has ended, for remaining output and for processes that cannot be killed at once.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// The outcome of a command.
pub(super) struct FinishedCommand {
    pub end: CommandEnd,
    pub transcript: Transcript,
    /// `true` if another process kept the pipes open after the drain timeout.
    pub pipes_held: bool,
    /// `true` if a process may be left that the kernel could not kill in time.
    pub left_over: bool,
    pub confinement: Confinement,
}

/// The end of a command.
pub(super) enum CommandEnd {
    /// The command exited. Without a status, its supervisor was killed.
    Exited(Option<ExitStatus>),
    TimedOut(Duration),
    Cancelled,
}

/// Runs a command until it exits, times out or is cancelled. Dropping the future kills it.
pub(super) async fn run(
    started: StartedCommand,
    limit: Duration,
    output_limit: usize,
    cancellation: &CancellationToken,
    progress: &Progress,
) -> FinishedCommand {
    let StartedCommand { mut tree, stdout, stderr, confinement } = started;
    let mut reader = OutputReader::new(stdout, stderr, output_limit, progress);
    let mut end = tokio::select! {
        status = read_while(&mut reader, tree.wait()) => CommandEnd::Exited(status),
        () = sleep(limit) => CommandEnd::TimedOut(limit),
        () = cancellation.cancelled() => CommandEnd::Cancelled,
    };
    let mut left_over = false;
    if !matches!(end, CommandEnd::Exited(_)) {
        tree.kill();
        match timeout(DRAIN_TIMEOUT, read_while(&mut reader, tree.wait())).await {
            // It exited on its own in the meantime.
            Ok(Some(status)) => end = CommandEnd::Exited(Some(status)),
            Ok(None) => {}
            Err(_) => left_over = true,
        }
    }
    let pipes_held = timeout(DRAIN_TIMEOUT, reader.read()).await.is_err();
    if !left_over {
        tree.clean_up().await;
    }
    FinishedCommand { end, transcript: reader.finish(), pipes_held, left_over, confinement }
}

/// Waits for a future while reading the output.
async fn read_while<T>(reader: &mut OutputReader<'_>, awaited: impl Future<Output = T>) -> T {
    let mut awaited = pin!(awaited);
    tokio::select! {
        value = &mut awaited => return value,
        () = reader.read() => {}
    }
    awaited.await
}

/// Returns the metadata of a finished command.
pub(super) fn metadata(finished: &FinishedCommand) -> Value {
    let (code, signal) = match finished.end {
        CommandEnd::Exited(Some(status)) => (status.code(), status.signal()),
        _ => (None, None),
    };
    json!({
        "exit_code": code,
        "signal": signal.map(signal_name),
        "timed_out": matches!(finished.end, CommandEnd::TimedOut(_)),
        "stdout_bytes": finished.transcript.total(OutputStream::Stdout),
        "stderr_bytes": finished.transcript.total(OutputStream::Stderr),
        "confinement": finished.confinement,
    })
}

/// Returns the output of a successful command, or an error with the exit status and the output.
pub(super) fn to_result(command: &RequestedCommand, finished: FinishedCommand) -> Result<String, HandlerError> {
    let FinishedCommand { end, transcript, pipes_held, left_over, .. } = finished;
    let mut output = transcript.into_text();
    if pipes_held {
        output.push_str("\n[Another process still holds the output open; anything it writes is not read.]\n");
    }
    let command = command.to_string();
    let command = excerpt(&command);
    let how = match end {
        CommandEnd::Exited(Some(status)) if status.success() => {
            return Ok(if output.is_empty() { format!("`{command}` succeeded and printed nothing.") } else { output });
        }
        CommandEnd::Exited(status) => describe_status(status),
        CommandEnd::TimedOut(limit) => {
            format!("did not finish within {limit:?} and was killed with every process it had started")
        }
        CommandEnd::Cancelled => "was cancelled and killed with every process it had started".to_owned(),
    };
    let left_over = if left_over { " Some of its processes may still be running." } else { "" };
    let output = if output.is_empty() { "It printed nothing." } else { &output };
    Err(HandlerError::failed(format!("`{command}` {how}.{left_over}\n{output}")))
}

fn describe_status(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "was killed, together with its supervisor".to_owned() };
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was killed by {}", signal_name(signal)),
        (None, None) => format!("ended: {status}"),
    }
}

fn signal_name(signal: i32) -> String {
    let names = [
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGSYS, "SIGSYS"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
    ];
    let known = names.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
