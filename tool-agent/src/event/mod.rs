//! What happens in a conversation, for an interface.

mod queue;
mod subscriber;
mod update;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};
use serde_json::Value;

pub use subscriber::Subscriber;
pub(crate) use subscriber::{Hub, Told};
pub use update::Update;

use crate::{CallResult, ModelError, Outcome, Usage};

/// Something that has happened in a conversation; [`Update`] says in which of its runs.
///
/// A run that has its turn begins with one [`Began`](Self::Began) and ends with one [`Ended`](Self::Ended), also if it
/// was dropped. One that is stopped before its turn has the end alone, and one that nobody has awaited has neither. Of
/// each call there is one [`CallStarted`](Self::CallStarted), then what it reports, then one
/// [`CallFinished`](Self::CallFinished) or [`CallPending`](Self::CallPending); what was pending starts again when
/// somebody has agreed to it, or finishes when they have not, or when it is too late. Who watches the whole conversation
/// hears of one run after the other, and nothing of one that ended before it was its turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A run has its turn.
    Began {
        /// What a person says; nothing where the run goes on with what was said before.
        text: Option<String>,
    },
    /// The message or decision of the person is stored, and the model is asked next. If storing fails, the run ends without
    /// this, with [`Ending::NotKept`](crate::Ending::NotKept), and what the person said is not in the conversation.
    Kept,
    /// The request failed before the model had answered, and is sent again after a delay; see
    /// [`Retrying`](crate::Retrying). [`Thinking`](Self::Thinking) of the failed request is discarded.
    Retrying {
        /// Why it did not; in JSON, in words.
        #[serde(serialize_with = "in_words")]
        why: ModelError,
        /// How long it will be; in JSON, in milliseconds.
        #[serde(serialize_with = "duration")]
        after: Duration,
    },
    /// The model says more. Pieces that nobody has read yet are joined.
    Text {
        /// What comes next.
        text: String,
    },
    /// The model thinks more, where its provider shows it.
    Thinking {
        /// What comes next.
        text: String,
    },
    /// A call begins.
    CallStarted {
        /// The call's id.
        id: Arc<str>,
        /// The tool.
        tool: Arc<str>,
        /// The arguments, without their secrets; `null` if they are no JSON, or if there is no such tool.
        arguments: Value,
    },
    /// A call waits for somebody's consent. [`Conversation::waiting`](crate::Conversation::waiting) has its token.
    CallPending {
        /// The call's id.
        id: Arc<str>,
        /// When it is too late to agree, if that is known; in JSON, milliseconds since 1970.
        #[serde(serialize_with = "milliseconds")]
        expires: Option<SystemTime>,
    },
    /// A call says how far it is.
    CallProgress {
        /// The call's id.
        id: Arc<str>,
        /// In its own form.
        progress: Value,
    },
    /// A call has ended.
    CallFinished(
        /// With its result.
        Arc<CallResult>,
    ),
    /// The model has answered, and the calls of that answer have ended.
    TurnEnded {
        /// Which turn of this run it was, from 1.
        turn: u32,
        /// The tokens of this turn.
        usage: Usage,
        /// The tokens of the run so far.
        total: Usage,
    },
    /// The run has ended.
    Ended(
        /// How.
        Arc<Outcome>,
    ),
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
