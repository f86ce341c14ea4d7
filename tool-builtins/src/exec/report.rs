//! What the model reads of a command.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde_json::{Value, json};
use tool_runtime::HandlerError;

use super::command::Command;
use super::output::Stream;
use super::run::{Ending, Finished};

/// What the interface may want to know of a command.
pub(super) fn facts(finished: &Finished) -> Value {
    let (code, signal) = match finished.ending {
        Ending::Exited(Some(status)) => (status.code(), status.signal()),
        _ => (None, None),
    };
    json!({
        "exit_code": code,
        "signal": signal.map(signal_name),
        "timed_out": matches!(finished.ending, Ending::TimedOut(_)),
        "stdout_bytes": finished.transcript.total(Stream::Stdout),
        "stderr_bytes": finished.transcript.total(Stream::Stderr),
        "confinement": finished.confinement,
    })
}

/// The output of a command that succeeded; of one that did not, how it ended and the output.
pub(super) fn answer(command: &Command, finished: Finished) -> Result<String, HandlerError> {
    let Finished { ending, transcript, pipes_held, left_over, .. } = finished;
    let mut output = transcript.into_text();
    if pipes_held {
        output.push_str("\n[Another process holds the command's output open; what it writes is not read.]\n");
    }
    let how = match ending {
        Ending::Exited(Some(status)) if status.success() => {
            return Ok(if output.is_empty() { format!("`{command}` succeeded and printed nothing.") } else { output });
        }
        Ending::Exited(status) => ended(status),
        Ending::TimedOut(limit) => {
            format!("did not finish within {limit:?} and was killed, with all that it had started")
        }
        Ending::Cancelled => "was cancelled and killed, with all that it had started".to_owned(),
    };
    let left_over = if left_over { " The system could not end all of it yet." } else { "" };
    let output = if output.is_empty() { "It printed nothing." } else { &output };
    Err(HandlerError::failed(format!("`{command}` {how}.{left_over}\n{output}")))
}

fn ended(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "was killed, together with what watched over it".to_owned() };
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was ended by {}", signal_name(signal)),
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
