//! What became of a call, in words for the model.

use std::time::Duration;

use crate::dispatch::BoundTool;
use crate::handler_result::{HandlerFailure, HandlerOutput, HandlerResult};
use crate::inject::Notes;
use crate::output::sanitize;
use crate::{CallOutcome, ErrorKind, ToolError, ToolResult};

pub(crate) fn outcome_of(answer: &HandlerResult) -> CallOutcome {
    match answer {
        Ok(_) => CallOutcome::Success,
        Err(failure) => match failure.kind {
            ErrorKind::Panicked => CallOutcome::Panicked,
            ErrorKind::TimedOut | ErrorKind::OutcomeUnknown => CallOutcome::TimedOut,
            ErrorKind::Cancelled => CallOutcome::Cancelled,
            _ => CallOutcome::Failed,
        },
    }
}

pub(crate) fn cancelled() -> Box<HandlerFailure> {
    HandlerFailure::new(ErrorKind::Cancelled, "was cancelled")
}

pub(crate) fn too_late(limit: Duration) -> Box<HandlerFailure> {
    HandlerFailure::new(ErrorKind::TimedOut, format!("did not finish within {limit:?}"))
}

/// The same of a handler that goes on: what it does, nobody knows.
pub(crate) fn unstoppable(mut failure: Box<HandlerFailure>) -> Box<HandlerFailure> {
    failure.kind = ErrorKind::OutcomeUnknown;
    failure.message.push_str(", but could not be stopped: it may still take effect");
    failure
}

pub(crate) fn no_runtime() -> Box<HandlerFailure> {
    HandlerFailure::new(
        ErrorKind::NoRuntime,
        "needs a Tokio runtime with time enabled, and there is none on this thread",
    )
}

/// Returns the result of a call that panicked outside of its handler. Nothing should; whether the handler ran is not known.
#[cold]
pub(crate) fn panicked(tool: &str, panic: &str) -> ToolResult {
    let message = format!("`{tool}` may have taken effect, but its result is lost: the call panicked: {panic}");
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, sanitize(message)))
}

/// The answer in the words that the model reads.
#[inline]
pub(crate) fn answered(tool: &BoundTool, answer: HandlerResult) -> ToolResult {
    match answer {
        Ok(HandlerOutput { text, metadata }) => ToolResult { metadata, ..ToolResult::success(text) },
        Err(mut failure) => match failure.result.take() {
            Some(result) => result,
            None => ToolResult::failure(in_words(tool, *failure)),
        },
    }
}

/// A result with what its handler has said besides.
#[inline]
pub(crate) fn noted(mut result: ToolResult, notes: Option<Notes>) -> ToolResult {
    if let Some(notes) = notes {
        notes.move_to(&mut result.metadata);
    }
    result
}

#[cold]
pub(crate) fn in_words(tool: &BoundTool, failure: HandlerFailure) -> ToolError {
    let HandlerFailure { kind, message, retry_after, .. } = failure;
    let name = &tool.name;
    let message = match kind {
        ErrorKind::Panicked => format!("`{name}` panicked: {message}"),
        ErrorKind::TimedOut => format!("`{name}` {message} and was stopped."),
        ErrorKind::Cancelled | ErrorKind::OutcomeUnknown | ErrorKind::NoRuntime | ErrorKind::Refused => {
            format!("`{name}` {message}.")
        }
        ErrorKind::Finish => format!("`{name}` ran, but failed in the end: {message}"),
        _ => message,
    };
    ToolError::new(kind, sanitize(message)).with_retry_after(retry_after)
}
