//! Calls with an `Idempotency-Key`: a client that repeats a request gets the result of the call that it made first.
//!
//! A key names one call of a conversation, and is the id under which the journal knows it. While the call is in progress
//! another request with its key is a conflict. Once the call has run, the journal answers.

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

/// The kind of problems with a key.
const KIND: &str = "idempotency_key";

/// The keys of the calls that are in progress, each with its conversation.
#[derive(Clone, Default)]
pub(crate) struct Keys(Arc<Mutex<HashSet<Key>>>);

/// The key of a request.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    conversation: String,
    id: String,
}

impl Key {
    /// Checks that a key can be honoured: it is known within a conversation, by the journal.
    pub(crate) fn new(tools: &Dispatcher, conversation: Option<&str>, id: &str) -> Result<Self, Problem> {
        let Some(conversation) = conversation else {
            let detail = "An `Idempotency-Key` is known within a conversation: say which, with `?conversation=..`.";
            return Err(Problem::bad_request(KIND, detail));
        };
        if tools.journal().is_none() {
            let detail = "Calls are not recorded here, so an `Idempotency-Key` cannot keep a call from running twice: \
                          send the request without it.";
            return Err(Problem::bad_request(KIND, detail));
        }
        Ok(Self { conversation: conversation.to_owned(), id: id.to_owned() })
    }
}

impl Keys {
    fn lock(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a key for one call, and looks up whether that has run before.
    pub(crate) async fn take(&self, tools: &Dispatcher, key: Key) -> Result<KeyedCall, Problem> {
        if !self.lock().insert(key.clone()) {
            return Err(in_progress());
        }
        let taken = Taken { keys: self.clone(), key };
        let recorded = tools.recall(&taken.key.conversation, &taken.key.id).await.map_err(|error| {
            tracing::warn!(%error, "an idempotency key cannot be looked up");
            let detail = "What is on record of this `Idempotency-Key` cannot be read now: try again.";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorKind::Journal.as_str(), detail)
        })?;
        match recorded {
            // In another process.
            Some(EntryState::Running) => Err(in_progress()),
            recorded => Ok(KeyedCall { taken, recorded }),
        }
    }
}

/// A key in use, until this is dropped.
struct Taken {
    keys: Keys,
    key: Key,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.keys.lock().remove(&self.key);
    }
}

/// A call that has its key to itself, with what is on record of the key.
pub(crate) struct KeyedCall {
    taken: Taken,
    recorded: Option<EntryState>,
}

impl KeyedCall {
    /// Makes the call, or answers for the one that was made before. A call that waits for approval waits on, as the same
    /// entry.
    pub(crate) async fn run(self, call: Call<'_>, pending: Option<&Deferred>) -> Result<ToolResult, Problem> {
        let is_other = Arc::new(AtomicBool::new(false));
        let call = match pending {
            Some(deferred) => call.confirm(OncePending { deferred: deferred.clone(), is_other: is_other.clone() }),
            None => call,
        };
        let tool = call.request().name().to_owned();
        let result = match &self.recorded {
            Some(EntryState::Finished(_) | EntryState::Unfinished) => call.replay().await,
            _ => call.await,
        };
        drop(self.taken);
        let is_unknown = result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::OutcomeUnknown);
        // Something has run with this key, and it was not this.
        let is_unrecorded =
            matches!(self.recorded, Some(EntryState::Finished(_))) && is_unknown && !is_replayed(&result);
        if is_unrecorded || is_other.load(Ordering::Relaxed) {
            let detail = "This `Idempotency-Key` is that of another call: use a new one for another tool or other \
                          arguments.";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, KIND, detail));
        }
        Ok(as_final(&tool, result))
    }
}

/// Returns `true` if the result is that of an earlier call, from the journal.
pub(crate) fn is_replayed(result: &ToolResult) -> bool {
    result.metadata.get("replayed").and_then(serde_json::Value::as_bool) == Some(true)
}

/// Puts the recorded result of a call that was stopped in other words: "timed out" invites a retry, and this key will
/// never get another result.
fn as_final(tool: &str, recorded: ToolResult) -> ToolResult {
    let kind = recorded.error.as_ref().map(|error| error.kind);
    if !is_replayed(&recorded) || !matches!(kind, Some(ErrorKind::TimedOut | ErrorKind::Cancelled)) {
        return recorded;
    }
    let message = format!(
        "`{tool}` was stopped before it finished, and may have taken effect. Check what it has done before you call it \
         again, with another key."
    );
    let mut result = ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message));
    result.metadata = recorded.metadata;
    result
}

fn in_progress() -> Problem {
    let detail = "A call with this `Idempotency-Key` is in progress: repeat the request to get its result.";
    Problem::new(StatusCode::CONFLICT, "in_progress", detail).with_retry_after(Duration::from_secs(1))
}

/// Has a call wait for approval, unless one of the same id waits already.
struct OncePending {
    deferred: Deferred,
    /// Set if the one that waits is another call.
    is_other: Arc<AtomicBool>,
}

impl OncePending {
    async fn decide(&self, question: &Question) -> Decision {
        let (Some(conversation), Some(id)) = (&question.conversation, &question.call_id) else {
            return self.deferred.confirm(question).await;
        };
        let Ok(waiting) = self.deferred.waiting(conversation, SystemTime::now()).await else {
            return Decision::refuse("it cannot be looked up whether it waits for approval already; try again later");
        };
        let found = waiting.into_iter().find(|(_, call)| call.question.call_id.as_ref() == Some(id));
        let Some((pending, call)) = found else { return self.deferred.confirm(question).await };
        if (&call.question.registered, &call.question.arguments) == (&question.registered, &question.arguments) {
            return Decision::Pending(pending);
        }
        self.is_other.store(true, Ordering::Relaxed);
        Decision::refuse("another call of the same id waits for approval")
    }
}

impl Confirm for OncePending {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(self.decide(question))
    }
}
