//! Calls in progress.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;
use tool_runtime::ToolResult;
use tool_runtime::confirm::Question;

use super::RunEvents;
use crate::conversation::ConversationState;
use crate::history::stopped;
use crate::{AgentEvent, CallResult};

/// The calls in progress and their results so far. Each gets exactly one result, whatever happens to the run.
pub(super) struct OpenCalls {
    pub(super) calls: Vec<OpenCall>,
    /// Set if these calls were pending, so that the history already has placeholder results.
    pub(super) is_decision: bool,
    /// The question of the approved call, once its execution was requested.
    decided: OnceLock<Question>,
}

/// A call in progress.
pub(super) struct OpenCall {
    /// The index of its result.
    at: usize,
    pub(super) id: Arc<str>,
    tool: Arc<str>,
    slot: Mutex<OpenCallState>,
}

/// The state of a call. Events are sent under its lock, so that none follows the end of the call.
enum OpenCallState {
    Open,
    /// The end was reported. Contains the result until it is taken.
    Finished(Option<ToolResult>),
}

impl OpenCalls {
    pub(super) fn new<'a>(calls: impl IntoIterator<Item = (usize, &'a str, &'a str)>, is_decision: bool) -> Arc<Self> {
        let open_call = |(at, id, tool): (usize, &str, &str)| OpenCall {
            at,
            id: id.into(),
            tool: tool.into(),
            slot: Mutex::new(OpenCallState::Open),
        };
        Arc::new(Self { calls: calls.into_iter().map(open_call).collect(), is_decision, decided: OnceLock::new() })
    }

    /// Records that the approved call is being executed.
    pub(super) fn set_decided(&self, question: &Question) {
        let _ = self.decided.set(question.clone());
    }

    /// Returns `true` if the calls may have run. An approved call stays pending until its handler starts.
    pub(super) fn may_have_run(&self) -> bool {
        !self.is_decision || self.decided.get().is_some_and(Question::is_spent)
    }

    /// Reports an approved call that did not start and is still pending.
    pub(super) fn report_pending(&self, events: &RunEvents) {
        if self.is_decision && self.decided.get().is_some() && !self.may_have_run() {
            self.stop_reporting();
            for call in &self.calls {
                events.send(|| AgentEvent::CallPending { id: call.id.clone(), expires: None });
            }
        }
    }

    fn find(&self, id: &str) -> Option<&OpenCall> {
        self.calls.iter().find(|call| &*call.id == id)
    }

    /// Takes the result of a call, if it has one.
    pub(super) fn take(&self, id: &str) -> Option<ToolResult> {
        self.find(id)?.take()
    }

    /// Finishes the calls that have no result as cancelled.
    pub(super) fn close(&self, events: &RunEvents) {
        for call in self.calls.iter().filter(|call| call.is_open()) {
            call.finish(events, stopped(&call.tool));
        }
    }

    /// Stops reporting events here, because the caller reports the results.
    pub(super) fn stop_reporting(&self) {
        for call in &self.calls {
            *call.slot() = OpenCallState::Finished(None);
        }
    }

    /// Replaces the placeholder results.
    pub(super) fn apply_to(&self, state: &mut ConversationState) {
        for call in &self.calls {
            if let Some(result) = call.take() {
                state.replace(call.at, result);
            }
        }
    }
}

impl OpenCall {
    fn slot(&self) -> MutexGuard<'_, OpenCallState> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(*self.slot(), OpenCallState::Open)
    }

    fn take(&self) -> Option<ToolResult> {
        match &mut *self.slot() {
            OpenCallState::Open => None,
            OpenCallState::Finished(result) => result.take(),
        }
    }

    /// Sets the result. Later results are ignored.
    pub(super) fn finish(&self, events: &RunEvents, result: ToolResult) {
        let mut slot = self.slot();
        if let OpenCallState::Finished(_) = *slot {
            return;
        }
        let wakers = events.queue(|| end_event(&self.id, &self.tool, &result));
        *slot = OpenCallState::Finished(Some(result));
        drop(slot);
        wakers.wake();
    }

    /// Reports progress. Ignored after the end, because a handler that cannot be cancelled may still report.
    pub(super) fn report(&self, events: &RunEvents, progress: Value) {
        let slot = self.slot();
        if let OpenCallState::Finished(_) = *slot {
            return;
        }
        let wakers = events.queue(|| AgentEvent::CallProgress { id: self.id.clone(), progress });
        drop(slot);
        wakers.wake();
    }
}

/// Returns the event for a call with a result.
pub(super) fn end_event(id: &Arc<str>, tool: &str, result: &ToolResult) -> AgentEvent {
    let ended = CallResult::new(&**id, tool, result.clone());
    match ended.is_pending() {
        true => AgentEvent::CallPending { id: id.clone(), expires: ended.expires() },
        false => AgentEvent::CallFinished(Arc::new(ended)),
    }
}
