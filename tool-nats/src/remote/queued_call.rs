//! Queued calls of a remote tool.

use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::time::timeout;
use tool_runtime::inject::Deadline;
use tool_runtime::{ErrorKind, Scope, ToolError, ToolResult};

use super::DeliveryMode;
use super::direct_call::{FORBIDDEN, failure, log_cause, too_long, unavailable};
use super::tool::RemoteTool;
use crate::queue::{QueuedCall, Submission};
use crate::wire::CallHeaders;
use crate::{JobId, NatsError, WorkQueue};

/// Submits a call as a job, and waits for its result if `delivery` says so.
pub(super) async fn call(
    tool: &RemoteTool,
    arguments: &Map<String, Value>,
    scope: &Scope,
    delivery: DeliveryMode,
) -> ToolResult {
    let Some(queue) = &tool.caller.queue else {
        // The model cannot act on the details, so they are logged.
        tracing::warn!(tool = tool.name, "cannot queue a call without a queue: pass one to `discover(..).queue(..)`");
        return unavailable(tool, "it needs a work queue, and there is none");
    };
    let arguments = match serde_json::to_vec(arguments) {
        Ok(json) => Bytes::from(json),
        Err(error) => return failure(ErrorKind::InvalidArguments, tool, &error.to_string()),
    };
    // Read before submitting, because it is relative to now.
    let deadline = scope.deadline();
    let mut headers = CallHeaders::from_context(scope.context());
    headers.approved = tool.sensitive;
    let repeat = tool.caller.repeat && tool.repeatable;
    let job = QueuedCall { tool: &tool.name, headers, arguments, repeat };
    let id = queue.job_id(&job);
    match queue.submit(&id, &job).await {
        Submission::Yes => {}
        Submission::No(NatsError::TooLong { bytes, limit }) => return too_long(tool, bytes, limit),
        Submission::No(error) => {
            log_cause(tool, &error);
            return unavailable(
                tool,
                match error {
                    NatsError::Forbidden { .. } => FORBIDDEN,
                    _ => "it cannot be queued at the moment",
                },
            );
        }
        Submission::Unknown(error) => {
            log_cause(tool, &error);
            return with_job_id(unknown_outcome(tool, "may be in the queue: the queue did not confirm it"), &id);
        }
    }
    if delivery == DeliveryMode::Submitted {
        let output = format!("`{}` was submitted as job `{id}`. Its result will be available later.", tool.name);
        return with_job_id(ToolResult::success(output), &id);
    }
    let result = tokio::select! {
        biased;
        result = queue.result(&id) => Some(result),
        () = scope.cancellation().cancelled() => cancel_job(tool, queue, &id, deadline).await,
    };
    let result = match result {
        Some(Ok(result)) => result,
        Some(Err(error)) => {
            log_cause(tool, &error);
            unknown_outcome(tool, "was submitted, and its result cannot be read")
        }
        None => unknown_outcome(tool, "did not finish in time, and continues as a job"),
    };
    with_job_id(result, &id)
}

/// Stops waiting. If the call was cancelled, the job is cancelled too; if it only reached its deadline, the job
/// continues.
async fn cancel_job(
    tool: &RemoteTool,
    queue: &WorkQueue,
    id: &JobId,
    deadline: Deadline,
) -> Option<Result<ToolResult, NatsError>> {
    let is_late = deadline.remaining().is_some_and(|left| left.is_zero());
    if is_late {
        return None;
    }
    let cancelled = async {
        queue.cancel(id).await?;
        queue.result(id).await
    };
    // The worker checks for a cancellation every second.
    timeout(tool.caller.cancel_timeout * 2, cancelled).await.ok()
}

fn unknown_outcome(tool: &RemoteTool, why: &str) -> ToolResult {
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, format!("`{}` {why}.", tool.name)))
}

fn with_job_id(mut result: ToolResult, id: &JobId) -> ToolResult {
    result.metadata.insert("job", id.as_str());
    result
}
