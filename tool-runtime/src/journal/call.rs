//! Calls, as they are passed to a journal and returned by it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use tool_model::{ToolDefinition, canonical};

use super::JournalDecision;
use crate::arguments::redact;
use crate::{ToolCall, ToolResult};

/// The idempotency key of a call: calls with the same conversation, id, tool and arguments are the same call. The arguments
/// are those that were sent, after their repair, without defaults: a changed default does not make another call.
///
/// A call without a conversation or an id has no identity. It is recorded, as another call each time.
///
/// Secret arguments are not part of the key: keys are stored, and even a hash of a short secret would reveal it. A caller
/// that retries with another password must use another id, as models do.
#[derive(Clone, Debug)]
pub struct CallKey {
    run: u64,
    conversation: Option<String>,
    id: Option<String>,
    canonical: String,
}

impl CallKey {
    /// Creates the key of a call with redacted arguments.
    #[must_use]
    pub fn new(conversation: Option<&str>, id: Option<&str>, tool: &str, arguments: &Value) -> Self {
        static RUNS: AtomicU64 = AtomicU64::new(1);
        Self {
            run: RUNS.fetch_add(1, Ordering::Relaxed),
            conversation: conversation.map(str::to_owned),
            id: id.map(str::to_owned),
            canonical: canonical(&Value::from(tool)) + &canonical(arguments),
        }
    }

    /// Returns a number that is unique in this process. It distinguishes the runs of calls without an id.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// Returns the conversation of the call.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// Returns the id that the model provider gave the call.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the tool and arguments as one canonical text.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Returns conversation, id and [`canonical`](Self::canonical) text, if the call has an identity.
    #[must_use]
    pub fn identity(&self) -> Option<(&str, &str, &str)> {
        Some((self.conversation()?, self.id()?, &self.canonical))
    }
}

/// A call that is about to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StartedCall {
    /// The key of the call.
    pub key: CallKey,
    /// The tool's name.
    pub tool: String,
    /// The arguments as the handler gets them, repaired and [redacted](redact()).
    pub arguments: Value,
    /// The repairs, as in the result's metadata. They must not repeat a secret.
    pub repairs: Option<Value>,
    /// The reason why the call runs.
    pub decision: Option<JournalDecision>,
    /// The time of the start.
    pub at: SystemTime,
}

impl StartedCall {
    /// Creates a call that starts now, and redacts its arguments.
    #[must_use]
    pub fn new(call: &ToolCall<'_>, definition: &ToolDefinition, arguments: &Value) -> Self {
        Self::redacted(call, redact(arguments, definition))
    }

    /// Creates a call that starts now, with redacted arguments.
    pub(crate) fn redacted(call: &ToolCall<'_>, arguments: Value) -> Self {
        Self {
            key: CallKey::new(call.conversation_id(), call.call_id(), call.name(), &arguments),
            tool: call.name().to_owned(),
            arguments,
            repairs: None,
            decision: None,
            at: SystemTime::now(),
        }
    }

    /// Removes arguments that were filled with their defaults from the [`key`](Self::key).
    pub(crate) fn without_defaults(mut self, names: &[String]) -> Self {
        let Some(all) = self.arguments.as_object().filter(|_| !names.is_empty()) else { return self };
        let sent = all.iter().filter(|(name, _)| !names.contains(name));
        let sent: Map<String, Value> = sent.map(|(name, value)| (name.clone(), value.clone())).collect();
        self.key = CallKey::new(self.key.conversation(), self.key.id(), &self.tool, &sent.into());
        self
    }

    /// Sets the repairs.
    #[must_use]
    pub fn repairs(mut self, repairs: impl Into<Value>) -> Self {
        self.repairs = Some(repairs.into());
        self
    }

    /// Sets the decision.
    #[must_use]
    pub fn decision(mut self, decision: impl Into<JournalDecision>) -> Self {
        self.decision = Some(decision.into());
        self
    }
}

/// The status of a call that is about to run.
#[derive(Clone, Debug, PartialEq)]
pub enum CallStatus {
    /// The call is new. It is on record now, and may run.
    New,
    /// The call ended with this result before its handler was started. Only [`recall`](super::Journal::recall) returns
    /// this; for [`begin`](super::Journal::begin) such a call is new.
    NotStarted(Box<ToolResult>),
    /// The call completed with this result.
    Completed(Box<ToolResult>),
    /// The call started and never finished, and its process is gone. Its outcome is unknown.
    Unfinished,
    /// The call is running, in this process or another.
    Running,
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FinishedCall {
    /// The result.
    pub result: ToolResult,
    /// The duration.
    #[serde(rename = "milliseconds", serialize_with = "as_milliseconds")]
    pub duration: Duration,
    /// `true` if the handler was entered. Otherwise, for example after a failed provider, the call can begin again.
    pub started: bool,
}

impl FinishedCall {
    /// Creates the end of a call whose handler was entered.
    #[must_use]
    pub fn new(result: ToolResult, duration: Duration) -> Self {
        Self { result, duration, started: true }
    }

    /// Sets whether the handler was entered.
    #[must_use]
    pub fn started(mut self, started: bool) -> Self {
        self.started = started;
        self
    }
}

fn as_milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_micros() as f64 / 1000.0)
}
