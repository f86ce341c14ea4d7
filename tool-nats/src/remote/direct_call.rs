//! Direct calls of a remote tool, by request and reply.
//!
//! The result is the worker's. Without one, either no worker was there, so that nothing ran, or the
//! outcome is unknown, because a call that was sent may have run.

use std::borrow::Cow;
use std::pin::{Pin, pin};
use std::time::Duration;

use async_nats::connection::State;
use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};
use tool_runtime::{ErrorKind, Progress, Scope, ToolError, ToolResult};

use super::inbox::{CallHandle, ReplyEnd};
use super::tool::RemoteTool;
use crate::NatsError;
use crate::wire::{CallHeaders, payload_space};

/// The capacity of the progress channel.
const REPORTS: usize = 64;

/// The maximum number of times that a repeatable call is sent.
const MAX_ATTEMPTS: u32 = 4;

/// The delay before a lost call is sent again, if it is still running or no worker takes it.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// The message for a call whose cancellation was not acknowledged.
const NOT_CONFIRMED: &str = "was asked to stop, and its worker did not confirm that in time";

/// The message for a call that the server of NATS denies.
pub(super) const FORBIDDEN: &str = "this application is not permitted to call it";

/// The outcome of sending a call.
enum SendOutcome {
    /// The worker replied.
    Answered(ToolResult),
    /// The call did not run.
    NotRun(ToolResult),
    /// The outcome is unknown.
    Lost(String),
    /// The outcome is unknown, and the caller has cancelled the call.
    Stopped(String),
}

/// Calls a tool and waits for the reply.
pub(super) async fn call(tool: &RemoteTool, arguments: &Map<String, Value>, scope: &Scope) -> ToolResult {
    let arguments = match serde_json::to_vec(arguments) {
        Ok(json) => Bytes::from(json),
        Err(error) => return failure(ErrorKind::InvalidArguments, tool, &error.to_string()),
    };
    let mut headers = CallHeaders::from_context(scope.context());
    headers.approved = tool.sensitive;
    let may_repeat = tool.caller.repeat && tool.repeatable;
    if may_repeat && headers.id.is_none() {
        headers.id = Some(Cow::Owned(tool.caller.new_id()));
    }
    let id = headers.id.clone();
    // The reason why the call was lost. It may have run then, whatever the replies to later attempts say.
    let mut lost = None;
    for attempt in 1..=MAX_ATTEMPTS {
        match send(tool, arguments.clone(), &mut headers, scope).await {
            SendOutcome::Stopped(why) => return unknown(tool, &why),
            SendOutcome::Lost(why) if !may_repeat => return unknown(tool, &why),
            // The id stays the same, so that a worker whose journal has the call replays its result.
            SendOutcome::Lost(why) => {
                tracing::debug!(tool = tool.name, why, "a call was lost");
                lost = Some(why);
            }
            SendOutcome::NotRun(result) if lost.is_none() => return result,
            SendOutcome::NotRun(_) => sleep(RETRY_DELAY).await,
            SendOutcome::Answered(result) => match result.error.as_ref().map(|error| error.kind) {
                Some(ErrorKind::Busy) if lost.is_some() => sleep(RETRY_DELAY).await,
                // A journal with an unfinished record of the call does not run it again under that id.
                Some(ErrorKind::OutcomeUnknown) if lost.is_some() => {
                    headers.id = id.as_ref().map(|id| Cow::Owned(format!("{id}~{attempt}")));
                }
                _ => return result,
            },
        }
    }
    unknown(tool, &lost.unwrap_or_default())
}

async fn send(tool: &RemoteTool, arguments: Bytes, headers: &mut CallHeaders<'_>, scope: &Scope) -> SendOutcome {
    let caller = &tool.caller;
    if caller.client.connection_state() != State::Connected {
        return SendOutcome::NotRun(unavailable(tool, "there is no connection to NATS"));
    }
    headers.timeout = scope.deadline().remaining();
    let progress = scope.progress();
    headers.progress = progress.is_heard();
    let (reports, heard) = match progress.is_heard() {
        true => Some(mpsc::channel(REPORTS)).unzip(),
        false => (None, None),
    };
    let handle = caller.inbox.register(&tool.subject, reports);
    let (subject, reply, bytes) = (tool.subject.clone(), handle.subject(), arguments.len());
    let written = headers.write();
    let published = match written.is_empty() {
        true => caller.client.publish_with_reply(subject, reply, arguments).await,
        false => caller.client.publish_with_reply_and_headers(subject, reply, written, arguments).await,
    };
    if let Err(error) = published {
        handle.forget();
        return SendOutcome::NotRun(match error.kind() {
            async_nats::client::PublishErrorKind::MaxPayloadExceeded => {
                too_long(tool, bytes, payload_space(&caller.client, &headers.write()))
            }
            _ => {
                log_cause(tool, &error);
                unavailable(tool, "it cannot be sent to a worker at the moment")
            }
        });
    }
    wait(tool, handle, scope, progress, heard).await
}

/// Waits for the reply, as long as the worker sends heartbeats.
async fn wait(
    tool: &RemoteTool,
    mut handle: CallHandle,
    scope: &Scope,
    progress: Progress,
    mut reports: Option<mpsc::Receiver<Value>>,
) -> SendOutcome {
    let caller = &tool.caller;
    let mut stopped = pin!(scope.cancellation().cancelled());
    // Set once the call is cancelled.
    let mut grace = pin!(None);
    let mut is_late = false;
    loop {
        let report = async {
            match &mut reports {
                Some(reports) => reports.recv().await,
                None => std::future::pending().await,
            }
        };
        let is_stopping = grace.is_some();
        tokio::select! {
            biased;
            Some(report) = report => progress.report(report),
            end = handle.end() => return match end {
                ReplyEnd::Result(result) if is_late => SendOutcome::Answered(timed_out(tool, result)),
                ReplyEnd::Result(result) => SendOutcome::Answered(result),
                ReplyEnd::NoWorkers => {
                    caller.ping_soon.notify_one();
                    SendOutcome::NotRun(unavailable(tool, "no worker offers it at the moment"))
                }
                ReplyEnd::Denied(denied) => {
                    log_cause(tool, &denied);
                    SendOutcome::NotRun(unavailable(tool, FORBIDDEN))
                }
                ReplyEnd::Silent(_) if is_stopping => SendOutcome::Stopped(NOT_CONFIRMED.to_owned()),
                ReplyEnd::Silent(silence) => {
                    caller.ping_soon.notify_one();
                    SendOutcome::Lost(lost(tool, silence))
                }
            },
            () = &mut stopped, if !is_stopping => {
                is_late = scope.deadline().remaining().is_some_and(|left| left.is_zero());
                handle.cancel();
                grace.set(Some(sleep(caller.cancel_timeout)));
            }
            () = expired(grace.as_mut()), if is_stopping => return SendOutcome::Stopped(NOT_CONFIRMED.to_owned()),
        }
    }
}

/// Waits for a timer that may not be set.
async fn expired(time: Pin<&mut Option<Sleep>>) {
    match time.as_pin_mut() {
        Some(time) => time.await,
        None => std::future::pending().await,
    }
}

/// Converts the reply to a call that was cancelled at its deadline. The worker has the same deadline; if it is
/// cancelled before it notices that, it reports a cancellation.
fn timed_out(tool: &RemoteTool, result: ToolResult) -> ToolResult {
    if result.error.as_ref().is_none_or(|error| error.kind != ErrorKind::Cancelled) {
        return result;
    }
    let message = format!("`{}` did not finish in time and was stopped.", tool.name);
    let mut late = ToolResult::failure(ToolError::new(ErrorKind::TimedOut, message));
    late.metadata = result.metadata;
    late
}

fn lost(tool: &RemoteTool, silent: Duration) -> String {
    let seconds = silent.as_secs_f64();
    match tool.caller.client.connection_state() {
        State::Connected => format!("was sent, and its worker was silent for {seconds:.1} s"),
        _ => "was sent, and the connection to NATS was lost before a reply came".to_owned(),
    }
}

fn unknown(tool: &RemoteTool, why: &str) -> ToolResult {
    let message = format!("`{}` {why}: it may have taken effect. Check before you call it again.", tool.name);
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
}

/// Logs the cause of a failure. The model does not read it, because errors of NATS have subjects and addresses.
pub(super) fn log_cause(tool: &RemoteTool, error: &dyn std::fmt::Display) {
    tracing::warn!(tool = tool.name, %error, "a call of a remote tool failed");
}

pub(super) fn unavailable(tool: &RemoteTool, why: &str) -> ToolResult {
    failure(ErrorKind::Unavailable, tool, why)
}

pub(super) fn failure(kind: ErrorKind, tool: &RemoteTool, why: &str) -> ToolResult {
    ToolResult::failure(ToolError::new(kind, format!("`{}` did not run: {why}.", tool.name)))
}

pub(super) fn too_long(tool: &RemoteTool, bytes: usize, limit: usize) -> ToolResult {
    let why = NatsError::TooLong { bytes, limit };
    let message = format!("Invalid arguments for `{}`: {why}. Send less, or in several calls.", tool.name);
    ToolResult::failure(ToolError::new(ErrorKind::InvalidArguments, message))
}
