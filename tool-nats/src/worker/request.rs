//! One call that came.

use std::sync::Arc;
use std::time::Instant;

use async_nats::{Message, Subject};
use bytes::Bytes;
use futures_util::FutureExt;
use tool_runtime::confirm::{Confirm, Decision, Question};
use tool_runtime::journal::BoxFuture;
use tool_runtime::{CancellationToken, ErrorKind, ToolError, ToolResult};

use super::Shared;
use super::news::News;
use super::serving::Tool;
use crate::wire::{CallHeaders, PROBE, Reply, header, messages};

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
    let mut news = News::new(shared, reply, &token);
    if headers.progress {
        call = call.with(news.progress());
    }
    // Beside each other: the call goes on while nothing can be sent.
    let result = tokio::select! {
        biased;
        result = shared.work.track_future(call) => result,
        never = news.tell() => match never {},
    };
    news.finish().await;
    result
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
