//! Events of a conversation, for user interfaces.

mod queue;
mod subscriber;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

pub use subscriber::AgentSubscriber;
pub(crate) use subscriber::{EventHub, EventWakers};

use crate::{CallResult, ModelError, RunOutcome, Usage};

/// An event of a conversation; [`AgentUpdate`] says which run it belongs to.
///
/// A run starts with one [`Began`](Self::Began) and ends with one [`Ended`](Self::Ended), also if it was dropped. A run
/// that is stopped while it waits for its turn only has the end, and one that was never awaited has neither. Each call
/// has one [`CallStarted`](Self::CallStarted), then its progress, then one [`CallFinished`](Self::CallFinished) or
/// [`CallPending`](Self::CallPending). A pending call starts again when it is approved, or finishes when it is refused
/// or expires. A subscriber to the whole conversation sees one run after the other, and none that ended before its
/// turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// A run has started.
    Began {
        /// The user's message; `None` if the run continues with earlier messages.
        text: Option<String>,
    },
    /// The user's message or decision is stored, and the model is asked next. If storing fails, the run ends with
    /// [`RunEnding::NotKept`](crate::RunEnding::NotKept) instead, and the message is not part of the conversation.
    Kept,
    /// The request failed before the model responded, and is retried after a delay; see
    /// [`RetryingModel`](crate::RetryingModel). [`Thinking`](Self::Thinking) of the failed request is discarded.
    Retrying {
        /// The error; in JSON, its message.
        #[serde(serialize_with = "in_words")]
        why: ModelError,
        /// The delay; in JSON, in milliseconds.
        #[serde(serialize_with = "duration")]
        after: Duration,
    },
    /// More text of the model. Pieces that are still unread are joined.
    Text {
        /// The next piece.
        text: String,
    },
    /// More reasoning of the model, if the provider exposes it.
    Thinking {
        /// The next piece.
        text: String,
    },
    /// A call has started.
    CallStarted {
        /// The call's id.
        id: Arc<str>,
        /// The tool.
        tool: Arc<str>,
        /// The redacted arguments; `null` if they are not JSON or the tool does not exist.
        arguments: Value,
    },
    /// A call is pending approval. [`Conversation::pending_calls`](crate::Conversation::pending_calls) returns its
    /// token.
    CallPending {
        /// The call's id.
        id: Arc<str>,
        /// When the approval expires, if known; in JSON, milliseconds since 1970.
        #[serde(serialize_with = "milliseconds")]
        expires: Option<SystemTime>,
    },
    /// A call reports progress.
    CallProgress {
        /// The call's id.
        id: Arc<str>,
        /// The progress, in the tool's own format.
        progress: Value,
    },
    /// A call has finished.
    CallFinished(
        /// The result.
        Arc<CallResult>,
    ),
    /// The model has responded, and the calls of that response have finished.
    TurnEnded {
        /// The number of the turn in this run, starting at 1.
        turn: u32,
        /// The tokens of this turn.
        usage: Usage,
        /// The tokens of the run so far.
        total: Usage,
    },
    /// The run has ended.
    Ended(
        /// The outcome.
        Arc<RunOutcome>,
    ),
}

/// An update for a subscriber.
///
/// An event serializes next to its run, `{"run": 3, "event": "text", "text": ".."}`, and missed events as
/// `{"event": "missed", "events": 7}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum AgentUpdate {
    /// An event.
    Event {
        /// The [id](crate::Run::id) of its run.
        run: u64,
        /// The event.
        #[serde(flatten)]
        event: AgentEvent,
    },
    /// This many events were dropped because they were not read.
    Missed(#[serde(serialize_with = "missed")] u64),
}

impl AgentUpdate {
    /// Returns the event, or `None` for missed events.
    #[must_use]
    pub fn event(&self) -> Option<&AgentEvent> {
        match self {
            Self::Event { event, .. } => Some(event),
            Self::Missed(_) => None,
        }
    }

    /// Converts into the event, or `None` for missed events.
    #[must_use]
    pub fn into_event(self) -> Option<AgentEvent> {
        match self {
            Self::Event { event, .. } => Some(event),
            Self::Missed(_) => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn missed<S: Serializer>(events: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("event", "missed")?;
    map.serialize_entry("events", events)?;
    map.end()
}

fn in_words<S: Serializer>(error: &ModelError, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}

fn duration<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).serialize(serializer)
}

fn milliseconds<S: Serializer>(time: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_millis()).ok()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_runtime::ToolResult;

    use super::*;
    use crate::RunEnding;

    #[test]
    fn an_update_serializes_as_one_flat_object() {
        let of = |event| serde_json::to_value(AgentUpdate::Event { run: 3, event }).unwrap();
        assert_eq!(of(AgentEvent::Text { text: "Hi.".into() }), json!({"run": 3, "event": "text", "text": "Hi."}));
        assert_eq!(of(AgentEvent::Began { text: None }), json!({"run": 3, "event": "began", "text": null}));
        let waits = AgentEvent::Retrying { why: ModelError::rejected("too much"), after: Duration::from_millis(1_500) };
        assert_eq!(of(waits), json!({"run": 3, "event": "retrying", "why": "too much", "after": 1_500}));
        let finished = CallResult::new("1", "t", ToolResult::success("done".into()));
        let finished = of(AgentEvent::CallFinished(Arc::new(finished)));
        assert_eq!(
            (&finished["event"], &finished["id"], &finished["run"]),
            (&"call_finished".into(), &"1".into(), &3.into())
        );
        let ended = of(AgentEvent::Ended(Arc::new(RunOutcome::new(RunEnding::Cancelled))));
        assert_eq!((&ended["event"], &ended["ending"]["why"]), (&"ended".into(), &"cancelled".into()));
        assert_eq!(serde_json::to_value(AgentUpdate::Missed(7)).unwrap(), json!({"event": "missed", "events": 7}));
    }
}
