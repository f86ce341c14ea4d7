//! Failures and errors that the dispatcher itself produces, as the model reads them.

use std::time::Duration;

use crate::handler_failure::{BoxError, HandlerFailure, log_error};
use crate::{ErrorKind, ToolCall, ToolError, ToolResult};

pub(crate) fn cancelled() -> Box<HandlerFailure> {
    HandlerFailure::new(ErrorKind::Cancelled, "was cancelled")
}

pub(crate) fn timed_out(limit: Duration) -> Box<HandlerFailure> {
    HandlerFailure::new(ErrorKind::TimedOut, format!("did not finish within {limit:?}"))
}

/// Turns the failure into that of a handler that cannot be stopped and may still take effect.
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

/// Returns the result of a call that panicked outside of its handler, which is a bug. The handler may have run.
#[cold]
pub(crate) fn panicked(tool: &str, panic: &str) -> ToolResult {
    log_error(tool, "the call panicked", &*BoxError::from(panic));
    let message = format!("`{tool}` may have taken effect, but its result is lost: the call panicked.");
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
}

#[cold]
pub(crate) fn arguments_too_long(call: &ToolCall<'_>, limit: usize) -> ToolError {
    let message = format!(
        "Invalid arguments for `{}`: {} bytes are more than the limit of {limit}. Send less.",
        call.name,
        call.arguments.len(),
    );
    ToolError::new(ErrorKind::InvalidArguments, message)
}
