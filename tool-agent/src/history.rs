//! Invariants of a history: every call is followed by exactly one result.

use std::time::{Duration, SystemTime};

use tool_runtime::{ErrorKind, Metadata, ToolError, ToolResult};

use crate::{CallResult, Message, ModelCall};

/// The calls at the end of a history that have no results yet.
pub(crate) fn open_calls(history: &[Message]) -> &[ModelCall] {
    match history.last() {
        Some(Message::Assistant(assistant)) => &assistant.calls,
        _ => &[],
    }
}

/// Returns the index of the model's last message.
pub(crate) fn last_response(history: &[Message]) -> Option<usize> {
    history.iter().rposition(|message| matches!(message, Message::Assistant(_)))
}

/// Adds results for the calls at the end of a history.
pub(crate) fn add_results(history: &mut Vec<Message>, mut result: impl FnMut(&ModelCall) -> ToolResult) {
    let calls = open_calls(history);
    if calls.is_empty() {
        return;
    }
    let results = calls.iter().map(|call| CallResult::new(&call.id, &call.name, result(call))).collect();
    history.push(Message::Tools { results });
}

/// The results at the end of a history.
pub(crate) fn last_results(history: &[Message]) -> &[CallResult] {
    match history.last() {
        Some(Message::Tools { results }) => results,
        _ => &[],
    }
}

/// Returns the results at the end of a history, mutably.
pub(crate) fn last_results_mut(history: &mut [Message]) -> &mut [CallResult] {
    match history.last_mut() {
        Some(Message::Tools { results }) => results,
        _ => &mut [],
    }
}

/// Returns how many calls are pending approval. Only calls at the end can be: a later message withdraws them.
pub(crate) fn pending_count(history: &[Message]) -> usize {
    last_results(history).iter().filter(|result| result.is_pending()).count()
}

/// Returns the calls since the user's last message that returned an error, without pending ones.
pub(crate) fn failed_calls(history: &[Message]) -> impl Iterator<Item = &CallResult> {
    let start = history.iter().rposition(|message| matches!(message, Message::User { .. })).unwrap_or(0);
    let results = history[start..].iter().flat_map(|message| match message {
        Message::Tools { results } => results.as_slice(),
        _ => &[],
    });
    results.filter(|result| !result.result.success && !result.is_pending())
}

impl CallResult {
    /// Creates the result of a call. Removes the approval token of a pending call: anyone with the token can run the
    /// call, so it must not be part of a history or a store.
    pub fn new(id: impl Into<String>, name: impl Into<String>, result: ToolResult) -> Self {
        Self { id: id.into(), name: name.into(), result: without_token(result) }
    }

    /// Returns `true` if this is a placeholder for a call that is pending approval.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Pending)
    }

    /// Returns when the approval of a pending call expires.
    pub(crate) fn expires(&self) -> Option<SystemTime> {
        let milliseconds = self.result.metadata.get("expires")?.as_u64()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
    }
}

fn without_token(mut result: ToolResult) -> ToolResult {
    if result.metadata.get("token").is_some() && result.error.as_ref().is_some_and(|e| e.kind == ErrorKind::Pending) {
        let mut kept = Metadata::default();
        result
            .metadata
            .iter()
            .filter(|(key, _)| *key != "token")
            .for_each(|(key, value)| kept.insert(key, value.clone()));
        result.metadata = kept;
    }
    result
}

/// The result of a call that did not run.
pub(crate) fn not_run(tool: &str, kind: ErrorKind, because: &str) -> ToolResult {
    ToolResult::failure(ToolError::new(kind, format!("`{tool}` was not run: {because}.")))
}

/// The result of a call that was cancelled while it ran.
pub(crate) fn stopped(tool: &str) -> ToolResult {
    let message = format!("`{tool}` was cancelled before it returned a result. It may have done part of its work.");
    ToolResult::failure(ToolError::new(ErrorKind::Cancelled, message))
}

/// The result of a call whose outcome is unknown.
pub(crate) fn unknown_outcome(tool: &str) -> ToolResult {
    let message = format!(
        "The outcome of `{tool}` is unknown: the process ended while it was running. Check what it has done before you call it again."
    );
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
}

/// The result of a call that another process is running.
pub(crate) fn still_running(tool: &str) -> ToolResult {
    let message = format!(
        "The outcome of `{tool}` is not known yet: another process is running it. Check what it has done before you call it again."
    );
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
}
