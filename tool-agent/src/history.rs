//! What keeps a history one that a provider takes: each call has one result behind it, always.

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

/// Where the last answer of the model stands.
pub(crate) fn last_answer(history: &[Message]) -> Option<usize> {
    history.iter().rposition(|message| matches!(message, Message::Assistant(_)))
}

/// Answers the calls at the end of a history.
pub(crate) fn answer(history: &mut Vec<Message>, mut result: impl FnMut(&ModelCall) -> ToolResult) {
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

/// As [`last_results`], to be changed.
pub(crate) fn last_results_mut(history: &mut [Message]) -> &mut [CallResult] {
    match history.last_mut() {
        Some(Message::Tools { results }) => results,
        _ => &mut [],
    }
}

/// How many calls wait for somebody's consent. Only those at the end can: whoever goes on has decided.
pub(crate) fn waiting(history: &[Message]) -> usize {
    last_results(history).iter().filter(|result| result.is_waiting()).count()
}

impl CallResult {
    /// What came of the call of this id. The token of one that waits is left out: whoever has it can have the call run,
    /// and it belongs neither into a history nor into a store.
    pub fn new(id: impl Into<String>, name: impl Into<String>, result: ToolResult) -> Self {
        Self { id: id.into(), name: name.into(), result: without_token(result) }
    }

    /// Whether this stands in the place of a result that comes when somebody has given their consent.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Pending)
    }

    /// When it is too late to agree, for a call that waits.
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

/// The result of a call that was stopped on its way.
pub(crate) fn stopped(tool: &str) -> ToolResult {
    let message = format!("`{tool}` was stopped before it had answered. It may have done a part of its work.");
    ToolResult::failure(ToolError::new(ErrorKind::Cancelled, message))
}

/// The result of a call of which nobody knows how far it came.
pub(crate) fn unknown(tool: &str) -> ToolResult {
    let message = format!(
        "Nobody knows what came of `{tool}`: the program ended while it ran. Look at what it has done before you call it again."
    );
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
}

/// The result of a call that goes on where this process cannot see it.
pub(crate) fn still_running(tool: &str) -> ToolResult {
    let message = format!(
        "Nobody knows yet what comes of `{tool}`: another process is running it. Look at what it has done before you call it again."
    );
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
}
