//! One call that came.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::{Message, Subject};
use bytes::Bytes;
use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tool_runtime::confirm::{Confirm, Decision, Question};
use tool_runtime::journal::BoxFuture;
use tool_runtime::{CancellationToken, ErrorKind, Progress, ToolError, ToolResult};

use super::Shared;
use super::serving::Tool;
use crate::wire::{CallHeaders, PROBE, Reply, header, messages};

/// A call that takes longer says that it is worked on, and can be stopped from then on.
const LONG: Duration = Duration::from_millis(100);

/// How often a call that takes long says so.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// How many reports of progress wait to be sent.
const REPORTS: usize = 64;

/// Takes a call. One that answers at once, of a tool that does so, is done by whoever reads the subject; any other has a
/// task of its own.
pub(super) fn take(shared: &Arc<Shared>, tool: &Arc<Tool>, message: Message) {
    let mut call = Box::pin(shared.calls.track_future(answer(shared.clone(), tool.clone(), message)));
    if tool.pace.is_short() {
        if tool.pace.watch(|| call.as_mut().now_or_never()).is_none() {
            tokio::spawn(call);
        }
        return;
    }
    let tool = tool.clone();
    tokio::spawn(async move {
        if tool.pace.watch(|| call.as_mut().now_or_never()).is_none() {
            call.await;
        }
    });
}

/// Runs a call and answers it.
async fn answer(shared: Arc<Shared>, tool: Arc<Tool>, message: Message) {
    let Some(reply) = message.reply.clone() else { return };
    if header(message.headers.as_ref(), PROBE).is_some() {
        return send(&shared, &reply, Reply { headers: None, payload: Bytes::new() }).await;
    }
    let started = Instant::now();
    let result = run(&shared, &tool, &message, &reply).await;
    tool.statistics.count(result.success, started.elapsed());
    for message in messages(result, shared.client.max_payload()) {
        send(&shared, &reply, message).await;
    }
}

async fn run(shared: &Shared, tool: &Tool, message: &Message, reply: &Subject) -> ToolResult {
    let Ok(arguments) = std::str::from_utf8(&message.payload) else {
        let message = format!("Invalid arguments for `{}`: they are no text.", tool.name);
        return ToolResult::failure(ToolError::new(ErrorKind::InvalidArguments, message));
    };
    let headers = CallHeaders::read(message.headers.as_ref());
    let token = CancellationToken::new();
    let mut call = shared.dispatcher.call(headers.call(&tool.name, arguments)).cancel(token.clone());
    if let Some(timeout) = headers.timeout {
        call = call.within(timeout);
    }
    if tool.sensitive && headers.consent && shared.trusts_consent {
        call = call.confirm(Confirmed);
    }
    let mut reports = None;
    if headers.progress {
        let (sender, receiver) = mpsc::channel(REPORTS);
        // One that is too many is left out: a handler is not held up by whoever listens.
        call = call.with(Progress::to(move |report| drop(sender.try_send(report))));
        reports = Some(receiver);
    }

    let mut call = pin!(call);
    let mut long = pin!(sleep(LONG));
    let mut entered = None;
    loop {
        tokio::select! {
            biased;
            result = &mut call => {
                while let Some(Ok(report)) = reports.as_mut().map(mpsc::Receiver::try_recv) {
                    send(shared, reply, Reply::progress(&report)).await;
                }
                return result;
            }
            Some(report) = next(&mut reports) => send(shared, reply, Reply::progress(&report)).await,
            () = &mut long => {
                entered.get_or_insert_with(|| shared.running.enter(reply, &token));
                send(shared, reply, Reply::working(&shared.id)).await;
                long.set(sleep(HEARTBEAT));
            }
        }
    }
}

async fn next(reports: &mut Option<mpsc::Receiver<Value>>) -> Option<Value> {
    match reports {
        Some(reports) => reports.recv().await,
        None => std::future::pending().await,
    }
}

/// Sends an answer. What cannot be sent is not heard: the caller finds that out by itself.
pub(super) async fn send(shared: &Shared, to: &Subject, reply: Reply) {
    let sent = match reply.headers {
        Some(headers) => shared.client.publish_with_headers(to.clone(), headers, reply.payload).await,
        None => shared.client.publish(to.clone(), reply.payload).await,
    };
    if let Err(error) = sent {
        tracing::warn!(%error, "an answer could not be sent");
    }
}

/// The caller's dispatcher has asked whoever had to be asked.
pub(crate) struct Confirmed;

impl Confirm for Confirmed {
    fn confirm<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Decision> {
        Box::pin(async { Decision::Run })
    }
}
