//! A call of a remote tool, through the work queue.

use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::time::timeout;
use tool_runtime::inject::Deadline;
use tool_runtime::{ErrorKind, Scope, ToolError, ToolResult};

use super::Delivery;
use super::call::{failure, too_long, unavailable};
use super::tool::RemoteTool;
use crate::queue::{Job, Submitted};
use crate::wire::CallHeaders;
use crate::{Error, JobId, Queue};

/// Submits a call as a job, and waits for it if it is to.
pub(super) async fn call(
    tool: &RemoteTool,
    arguments: &Map<String, Value>,
    scope: &Scope,
    delivery: Delivery,
) -> ToolResult {
    let Some(queue) = &tool.caller.queue else {
        // What a model could not act on is for the log.
        tracing::warn!(tool = tool.name, "a call was to be queued: give the queue to `discover(..).queue(..)`");
        return unavailable(tool, "it was to go through a work queue, and there is none");
    };
    let arguments = match serde_json::to_vec(arguments) {
        Ok(json) => Bytes::from(json),
        Err(error) => return failure(ErrorKind::InvalidArguments, tool, &error.to_string()),
    };
    // Asked for now: the time runs from here.
    let deadline = scope.deadline();
    let mut headers = CallHeaders::of(scope.context());
    headers.consent = tool.sensitive;
    let repeat = tool.caller.repeat && tool.repeatable;
    let job = Job { tool: &tool.name, headers, arguments, repeat };
    let id = queue.id_of(&job);
    match queue.submit(&id, &job).await {
        Submitted::Yes => {}
        Submitted::No(Error::TooLong { bytes, limit }) => return too_long(tool, bytes, limit),
        Submitted::No(error) => return unavailable(tool, &error.to_string()),
        Submitted::Unknown(error) => return of_job(unsure(tool, &format!("may be in the queue: {error}")), &id),
    }
    if delivery == Delivery::Submitted {
        let output = format!("`{}` was submitted as the job `{id}`. Its result comes later.", tool.name);
        return of_job(ToolResult::success(output), &id);
    }
    let result = tokio::select! {
        biased;
        result = queue.result(&id) => Some(result),
        () = scope.cancellation().cancelled() => stopped(tool, queue, &id, deadline).await,
    };
    let result = match result {
        Some(Ok(result)) => result,
        Some(Err(error)) => unsure(tool, &format!("was submitted, and {error}")),
        None => unsure(tool, "has not ended in time, and goes on as a job"),
    };
    of_job(result, &id)
}

/// The call stops waiting. If that is because somebody has cancelled it, the job is cancelled too; one that only takes
/// longer than this call can wait goes on.
async fn stopped(
    tool: &RemoteTool,
    queue: &Queue,
    id: &JobId,
    deadline: Deadline,
) -> Option<Result<ToolResult, Error>> {
    let is_late = deadline.remaining().is_some_and(|left| left.is_zero());
    if is_late {
        return None;
    }
    let cancelled = async {
        queue.cancel(id).await?;
        queue.result(id).await
    };
    // Whoever runs it looks every second whether it is to stop.
    timeout(tool.caller.stop_patience * 2, cancelled).await.ok()
}

fn unsure(tool: &RemoteTool, why: &str) -> ToolResult {
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, format!("`{}` {why}.", tool.name)))
}

fn of_job(mut result: ToolResult, id: &JobId) -> ToolResult {
    result.metadata.insert("job", id.as_str());
    result
}
