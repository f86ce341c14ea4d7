//! Handling of one incoming call.

use std::sync::Arc;
use std::time::Instant;

use async_nats::{Message, Subject};
use bytes::Bytes;
use futures_util::FutureExt;
use tool_runtime::confirm::{Confirm, Decision, Question};
use tool_runtime::journal::BoxFuture;
use tool_runtime::{CancellationToken, ErrorKind, ToolError, ToolResult};

use super::WorkerShared;
use super::heartbeat::CallHeartbeat;
use super::subscriptions::ServedTool;
use crate::wire::{CallHeaders, CallReply, PROBE, header, messages};

/// Handles a call. If the tool is fast, the call is polled by the reader of its subject first, and gets its own task
/// only if it does not finish at once.
pub(super) fn handle(shared: &Arc<WorkerShared>, tool: &Arc<ServedTool>, message: Message) {
    let mut call = Box::pin(shared.calls.track_future(respond(shared.clone(), tool.clone(), message)));
    if tool.pace.is_short() {
        if tool.pace.measure(|| call.as_mut().now_or_never()).is_none() {
            tokio::spawn(call);
        }
        return;
    }
    let tool = tool.clone();
    tokio::spawn(async move {
        if tool.pace.measure(|| call.as_mut().now_or_never()).is_none() {
            call.await;
        }
    });
}

/// Runs a call and sends its result.
async fn respond(shared: Arc<WorkerShared>, tool: Arc<ServedTool>, message: Message) {
    let Some(reply) = message.reply.clone() else { return };
    if header(message.headers.as_ref(), PROBE).is_some() {
        return send(&shared, &reply, CallReply { headers: None, payload: Bytes::new() }).await;
    }
    let started = Instant::now();
    let result = run(&shared, &tool, &message, &reply).await;
    tool.statistics.count(result.success, started.elapsed());
    for message in messages(result, shared.client.max_payload()) {
        send(&shared, &reply, message).await;
    }
}

async fn run(shared: &WorkerShared, tool: &ServedTool, message: &Message, reply: &Subject) -> ToolResult {
    let Ok(arguments) = std::str::from_utf8(&message.payload) else {
        let message = format!("Invalid arguments for `{}`: they are not valid UTF-8.", tool.name);
        return ToolResult::failure(ToolError::new(ErrorKind::InvalidArguments, message));
    };
    let headers = CallHeaders::read(message.headers.as_ref());
    let token = CancellationToken::new();
    let mut call = shared.dispatcher.call(headers.call(&tool.name, arguments)).cancel(token.clone());
    if let Some(timeout) = headers.timeout {
        call = call.within(timeout);
    }
    if tool.sensitive && headers.approved && shared.trusts_approvals {
        call = call.confirm(ApprovedByCaller);
    }
    let mut heartbeat = CallHeartbeat::new(shared, reply, &token);
    if headers.progress {
        call = call.with(heartbeat.progress());
    }
    // Concurrently: the call continues while nothing can be sent.
    let result = tokio::select! {
        biased;
        result = shared.work.track_future(call) => result,
        never = heartbeat.run() => match never {},
    };
    heartbeat.finish().await;
    result
}

/// Sends a reply. Errors are only logged: the caller notices the silence.
pub(super) async fn send(shared: &WorkerShared, to: &Subject, reply: CallReply) {
    let sent = match reply.headers {
        Some(headers) => shared.client.publish_with_headers(to.clone(), headers, reply.payload).await,
        None => shared.client.publish(to.clone(), reply.payload).await,
    };
    if let Err(error) = sent {
        tracing::warn!(%error, "cannot send a reply");
    }
}

/// A confirmer for calls that the caller's dispatcher has approved.
pub(crate) struct ApprovedByCaller;

impl Confirm for ApprovedByCaller {
    fn confirm<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Decision> {
        Box::pin(async { Decision::Run })
    }
}
