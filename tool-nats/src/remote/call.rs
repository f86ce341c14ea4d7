//! A call of a remote tool, by request and reply.
//!
//! What is answered is what the worker said, or what can be known without it: that nobody was there, so that nothing has
//! run, or that the outcome is unknown, since a call that was sent may have run whatever happened since.

use std::borrow::Cow;
use std::pin::{Pin, pin};
use std::time::Duration;

use async_nats::connection::State;
use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};
use tool_runtime::{ErrorKind, Progress, Scope, ToolError, ToolResult};

use super::inbox::{End, Place};
use super::tool::RemoteTool;
use crate::Error;
use crate::wire::{CallHeaders, room};

/// How many reports of progress are kept for a listener that is slow.
const REPORTS: usize = 64;

/// How often a call is sent at most, where it may be repeated.
const TRIES: u32 = 4;

/// How long to wait before a lost call is sent again, where it is running already or nobody takes it at the moment.
const PAUSE: Duration = Duration::from_millis(200);

/// What is said of a call that was to be stopped.
const NOT_SAID: &str = "was to be stopped, and its worker did not say in time that it is";

/// What became of a call that was sent.
enum Sent {
    /// The worker's word.
    Answered(ToolResult),
    /// It did not run.
    NotRun(ToolResult),
    /// Nobody knows.
    Lost(String),
    /// Nobody knows, and the caller wants it stopped.
    Stopped(String),
}

/// Calls a tool and waits for its worker's answer.
pub(super) async fn direct(tool: &RemoteTool, arguments: &Map<String, Value>, scope: &Scope) -> ToolResult {
    let arguments = match serde_json::to_vec(arguments) {
        Ok(json) => Bytes::from(json),
        Err(error) => return failure(ErrorKind::InvalidArguments, tool, &error.to_string()),
    };
    let mut headers = CallHeaders::of(scope.context());
    headers.consent = tool.sensitive;
    let may_repeat = tool.caller.repeat && tool.repeatable;
    if may_repeat && headers.id.is_none() {
        headers.id = Some(Cow::Owned(tool.caller.new_id()));
    }
    let id = headers.id.clone();
    // Why the call was lost. It may have run then, whatever is said of what was sent after it.
    let mut lost = None;
    for tried in 1..=TRIES {
        match send(tool, arguments.clone(), &mut headers, scope).await {
            Sent::Stopped(why) => return unknown(tool, &why),
            Sent::Lost(why) if !may_repeat => return unknown(tool, &why),
            // The same id: a worker whose journal knows the call answers it as it was answered before.
            Sent::Lost(why) => {
                tracing::debug!(tool = tool.name, why, "a call is lost");
                lost = Some(why);
            }
            Sent::NotRun(result) if lost.is_none() => return result,
            Sent::NotRun(_) => sleep(PAUSE).await,
            Sent::Answered(result) => match result.error.as_ref().map(|error| error.kind) {
                Some(ErrorKind::Busy) if lost.is_some() => sleep(PAUSE).await,
                // A journal that knows the call to have been left in the middle does not run it again by that id.
                Some(ErrorKind::OutcomeUnknown) if lost.is_some() => {
                    headers.id = id.as_ref().map(|id| Cow::Owned(format!("{id}~{tried}")));
                }
                _ => return result,
            },
        }
    }
    unknown(tool, &lost.unwrap_or_default())
}

async fn send(tool: &RemoteTool, arguments: Bytes, headers: &mut CallHeaders<'_>, scope: &Scope) -> Sent {
    let caller = &tool.caller;
    if caller.client.connection_state() != State::Connected {
        return Sent::NotRun(unavailable(tool, "there is no connection to NATS at the moment"));
    }
    headers.timeout = scope.deadline().remaining();
    let progress = scope.progress();
    headers.progress = progress.is_heard();
    let (reports, heard) = match progress.is_heard() {
        true => Some(mpsc::channel(REPORTS)).unzip(),
        false => (None, None),
    };
    let place = caller.inbox.place(&tool.subject, reports);
    let (subject, reply, bytes) = (tool.subject.clone(), place.subject(), arguments.len());
    let written = headers.write();
    let published = match written.is_empty() {
        true => caller.client.publish_with_reply(subject, reply, arguments).await,
        false => caller.client.publish_with_reply_and_headers(subject, reply, written, arguments).await,
    };
    if let Err(error) = published {
        place.forget();
        return Sent::NotRun(match error.kind() {
            async_nats::client::PublishErrorKind::MaxPayloadExceeded => {
                too_long(tool, bytes, room(&caller.client, &headers.write()))
            }
            _ => unavailable(tool, &error.to_string()),
        });
    }
    wait(tool, place, scope, progress, heard).await
}

/// Waits for the answer, as long as the worker is heard of.
async fn wait(
    tool: &RemoteTool,
    mut place: Place,
    scope: &Scope,
    progress: Progress,
    mut reports: Option<mpsc::Receiver<Value>>,
) -> Sent {
    let caller = &tool.caller;
    let mut stopped = pin!(scope.cancellation().cancelled());
    // Set once the caller wants the call stopped.
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
            end = place.end() => return match end {
                End::Result(result) if is_late => Sent::Answered(late(tool, result)),
                End::Result(result) => Sent::Answered(result),
                End::NobodyThere => {
                    caller.nudge.notify_one();
                    Sent::NotRun(unavailable(tool, "no worker offers it at the moment"))
                }
                End::Denied(denied) => Sent::NotRun(unavailable(tool, &denied)),
                End::Silent(_) if is_stopping => Sent::Stopped(NOT_SAID.to_owned()),
                End::Silent(silence) => {
                    caller.nudge.notify_one();
                    Sent::Lost(lost(tool, silence))
                }
            },
            () = &mut stopped, if !is_stopping => {
                is_late = scope.deadline().remaining().is_some_and(|left| left.is_zero());
                place.stop();
                grace.set(Some(sleep(caller.stop_patience)));
            }
            () = over(grace.as_mut()), if is_stopping => return Sent::Stopped(NOT_SAID.to_owned()),
        }
    }
}

/// Waits for the end of a time that may not have begun.
async fn over(time: Pin<&mut Option<Sleep>>) {
    match time.as_pin_mut() {
        Some(time) => time.await,
        None => std::future::pending().await,
    }
}

/// The answer to a call that was stopped because its time was over. The worker has the same deadline; where it is told to
/// stop before it sees that itself, it says only that it was cancelled.
fn late(tool: &RemoteTool, result: ToolResult) -> ToolResult {
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
        State::Connected => format!("was sent, and for {seconds:.1} s nothing was heard of its worker"),
        _ => "was sent, and the connection to NATS was lost before an answer came".to_owned(),
    }
}

fn unknown(tool: &RemoteTool, why: &str) -> ToolResult {
    let message = format!("`{}` {why}: it may have taken effect. Look before you call it again.", tool.name);
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
}

pub(super) fn unavailable(tool: &RemoteTool, why: &str) -> ToolResult {
    failure(ErrorKind::Unavailable, tool, why)
}

pub(super) fn failure(kind: ErrorKind, tool: &RemoteTool, why: &str) -> ToolResult {
    ToolResult::failure(ToolError::new(kind, format!("`{}` did not run: {why}.", tool.name)))
}

pub(super) fn too_long(tool: &RemoteTool, bytes: usize, limit: usize) -> ToolResult {
    let why = Error::TooLong { bytes, limit };
    let message = format!("Invalid arguments for `{}`: {why}. Send less, or in several calls.", tool.name);
    ToolResult::failure(ToolError::new(ErrorKind::InvalidArguments, message))
}
