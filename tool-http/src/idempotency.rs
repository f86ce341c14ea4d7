//! Calls with an `Idempotency-Key`: a repeated request returns the result of the first call.
//!
//! A key is the journal's id of one call of a conversation. While the call is in progress, another request with its key
//! is a conflict. Once the call has run, the result comes from the journal.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use http::StatusCode;
use tool_runtime::confirm::{Confirm, Decision, Deferred, Question};
use tool_runtime::journal::EntryState;
use tool_runtime::{Call, Dispatcher, ErrorKind, ToolError, ToolResult};

use crate::Problem;

/// The [`Problem::kind`] of key errors.
const KIND: &str = "idempotency_key";

/// The keys of the calls in progress.
#[derive(Clone, Default)]
pub(crate) struct ActiveKeys(Arc<Mutex<HashSet<IdempotencyKey>>>);

/// The idempotency key of a request, with its conversation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct IdempotencyKey {
    conversation: String,
    id: String,
}

impl IdempotencyKey {
    /// Creates a key. Fails if there is no conversation, in which keys are unique, or no journal to look it up.
    pub(crate) fn new(tools: &Dispatcher, conversation: Option<&str>, id: &str) -> Result<Self, Problem> {
        let Some(conversation) = conversation else {
            let detail = "An `Idempotency-Key` needs a conversation: add `?conversation=..`.";
            return Err(Problem::bad_request(KIND, detail));
        };
        if tools.journal().is_none() {
            let detail = "This server has no journal, so it cannot honour an `Idempotency-Key`: send the request \
                          without it.";
            return Err(Problem::bad_request(KIND, detail));
        }
        Ok(Self { conversation: conversation.to_owned(), id: id.to_owned() })
    }
}

impl ActiveKeys {
    fn lock(&self) -> MutexGuard<'_, HashSet<IdempotencyKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a key for one call and looks up in the journal if the call has run before.
    pub(crate) async fn reserve(&self, tools: &Dispatcher, key: IdempotencyKey) -> Result<KeyedCall, Problem> {
        if !self.lock().insert(key.clone()) {
            return Err(in_progress());
        }
        let reservation = KeyReservation { keys: self.clone(), key };
        let recorded = tools.recall(&reservation.key.conversation, &reservation.key.id).await.map_err(|error| {
            tracing::warn!(%error, "failed to look up an idempotency key");
            let detail = "Failed to look up this `Idempotency-Key` in the journal: try again.";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorKind::Journal.as_str(), detail)
        })?;
        match recorded {
            // Running in another process.
            Some(EntryState::Running) => Err(in_progress()),
            recorded => Ok(KeyedCall { reservation, recorded }),
        }
    }
}

/// A key that is in use until this is dropped.
struct KeyReservation {
    keys: ActiveKeys,
    key: IdempotencyKey,
}

impl Drop for KeyReservation {
    fn drop(&mut self) {
        self.keys.lock().remove(&self.key);
    }
}

/// A call with its reserved key and the journal's state of that key.
pub(crate) struct KeyedCall {
    reservation: KeyReservation,
    recorded: Option<EntryState>,
}

impl KeyedCall {
    /// Runs the call, or replays the result of the earlier one. A call that is pending stays pending with the same token.
    pub(crate) async fn run(self, call: Call<'_>, pending: Option<&Deferred>) -> Result<ToolResult, Problem> {
        let is_conflict = Arc::new(AtomicBool::new(false));
        let call = match pending {
            Some(deferred) => call.confirm(DeferOnce { deferred: deferred.clone(), is_conflict: is_conflict.clone() }),
            None => call,
        };
        let tool = call.request().name().to_owned();
        let result = match &self.recorded {
            Some(EntryState::Finished(_) | EntryState::Unfinished) => call.replay().await,
            _ => call.await,
        };
        drop(self.reservation);
        let is_unknown = result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::OutcomeUnknown);
        // A different call has run with this key.
        let is_unrecorded =
            matches!(self.recorded, Some(EntryState::Finished(_))) && is_unknown && !is_replayed(&result);
        if is_unrecorded || is_conflict.load(Ordering::Relaxed) {
            let detail =
                "This `Idempotency-Key` belongs to a call with another tool or other arguments: use a new key.";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, KIND, detail));
        }
        Ok(as_final(&tool, result))
    }
}

/// Returns `true` if the result was replayed from the journal.
pub(crate) fn is_replayed(result: &ToolResult) -> bool {
    result.metadata.get("replayed").and_then(serde_json::Value::as_bool) == Some(true)
}

/// Turns the recorded result of a stopped call into `OutcomeUnknown`. "Timed out" would invite a retry, but this key never
/// gets another result.
fn as_final(tool: &str, recorded: ToolResult) -> ToolResult {
    let kind = recorded.error.as_ref().map(|error| error.kind);
    if !is_replayed(&recorded) || !matches!(kind, Some(ErrorKind::TimedOut | ErrorKind::Cancelled)) {
        return recorded;
    }
    let message = format!(
        "`{tool}` was stopped before it finished, and may have taken effect. Check what it has done before you call it \
         again with another key."
    );
    let mut result = ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message));
    result.metadata = recorded.metadata;
    result
}

fn in_progress() -> Problem {
    let detail = "A call with this `Idempotency-Key` is in progress: repeat the request to get its result.";
    Problem::new(StatusCode::CONFLICT, "in_progress", detail).with_retry_after(Duration::from_secs(1))
}

/// Defers a call until it is approved, unless a call with the same id is pending already.
struct DeferOnce {
    deferred: Deferred,
    /// Set if the pending call has another tool or other arguments.
    is_conflict: Arc<AtomicBool>,
}

impl DeferOnce {
    async fn decide(&self, question: &Question) -> Decision {
        let (Some(conversation), Some(id)) = (&question.conversation, &question.call_id) else {
            return self.deferred.confirm(question).await;
        };
        let Ok(waiting) = self.deferred.waiting(conversation, SystemTime::now()).await else {
            return Decision::refuse("failed to look up pending calls; try again later");
        };
        let found = waiting.into_iter().find(|(_, call)| call.question.call_id.as_ref() == Some(id));
        let Some((pending, call)) = found else { return self.deferred.confirm(question).await };
        if (&call.question.registered, &call.question.arguments) == (&question.registered, &question.arguments) {
            return Decision::Pending(pending);
        }
        self.is_conflict.store(true, Ordering::Relaxed);
        Decision::refuse("another call with the same id is pending")
    }
}

impl Confirm for DeferOnce {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(self.decide(question))
    }
}
