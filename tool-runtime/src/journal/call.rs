//! What a journal is told of a call, and what it answers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use tool_model::{ToolDefinition, canonical};

use super::JournalDecision;
use crate::arguments::redact;
use crate::{ToolCall, ToolResult};

/// What a call is known by: two calls of the same conversation, id, tool and arguments are the same call. The arguments
/// are those that were sent, repaired where that was needed: a default that changes does not make it another call.
///
/// A call without a conversation or an id has nothing to be known by. It is recorded, and each time it is another.
///
/// Secret arguments do not count: a key is written down, and what is derived from a short secret gives it away. Whoever
/// tries again with another password gives the call another id, as models do.
#[derive(Clone, Debug)]
pub struct CallKey {
    run: u64,
    conversation: Option<String>,
    id: Option<String>,
    canonical: String,
}

impl CallKey {
    /// The key of a call with these arguments, from which secrets have been taken out.
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

    /// A number that no other key of this process has. It tells apart the runs of calls that have no id.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The conversation that the call belongs to.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// The id that the provider gave the call.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Tool and arguments as one text, the same for the same call.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Conversation, id and [`canonical`](Self::canonical), for a call that can be known by them.
    #[must_use]
    pub fn identity(&self) -> Option<(&str, &str, &str)> {
        Some((self.conversation()?, self.id()?, &self.canonical))
    }
}

/// A call that is about to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StartedCall {
    /// What the call is known by.
    pub key: CallKey,
    /// The tool's name.
    pub tool: String,
    /// The arguments as the handler gets them, mended and [without their secrets](redact()).
    pub arguments: Value,
    /// What was mended, as the result's metadata has it. It must not repeat a secret.
    pub repairs: Option<Value>,
    /// The reason why the call runs.
    pub decision: Option<JournalDecision>,
    /// When.
    pub at: SystemTime,
}

impl StartedCall {
    /// A call that starts now, with its mended arguments. What the definition calls secret is left out.
    #[must_use]
    pub fn new(call: &ToolCall<'_>, definition: &ToolDefinition, arguments: &Value) -> Self {
        Self::redacted(call, redact(arguments, definition))
    }

    /// A call that starts now, with arguments that are redacted already.
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

    /// Leaves these arguments out of the [`key`](Self::key), since they were not sent but filled in with their defaults.
    pub(crate) fn without_defaults(mut self, names: &[String]) -> Self {
        let Some(all) = self.arguments.as_object().filter(|_| !names.is_empty()) else { return self };
        let sent = all.iter().filter(|(name, _)| !names.contains(name));
        let sent: Map<String, Value> = sent.map(|(name, value)| (name.clone(), value.clone())).collect();
        self.key = CallKey::new(self.key.conversation(), self.key.id(), &self.tool, &sent.into());
        self
    }

    /// The same with what was mended.
    #[must_use]
    pub fn repairs(mut self, repairs: impl Into<Value>) -> Self {
        self.repairs = Some(repairs.into());
        self
    }

    /// The same with who or what let it run.
    #[must_use]
    pub fn decision(mut self, decision: impl Into<JournalDecision>) -> Self {
        self.decision = Some(decision.into());
        self
    }
}

/// What a journal knows of a call that is about to run.
#[derive(Clone, Debug, PartialEq)]
pub enum CallStatus {
    /// Nothing: it is on record now, and may run.
    New,
    /// It began before, with this result, and its handler was not started. Only [`recall`](super::Journal::recall) says
    /// so; to [`begin`](super::Journal::begin) such a call is new.
    NotStarted(Box<ToolResult>),
    /// It completed before, with this result.
    Completed(Box<ToolResult>),
    /// It started before and never finished, and whoever ran it is gone. What it did, nobody knows.
    Unfinished,
    /// It is running right now, in this process or another.
    Running,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FinishedCall {
    /// What it answered.
    pub result: ToolResult,
    /// How long it took.
    #[serde(rename = "milliseconds", serialize_with = "as_milliseconds")]
    pub duration: Duration,
    /// Whether the handler was entered. A call whose handler was not, such as when a provider failed, can begin again.
    pub started: bool,
}

impl FinishedCall {
    /// A call that ended with a result after some time, and whose handler was entered.
    #[must_use]
    pub fn new(result: ToolResult, duration: Duration) -> Self {
        Self { result, duration, started: true }
    }

    /// The same, with whether the handler was entered.
    #[must_use]
    pub fn started(mut self, started: bool) -> Self {
        self.started = started;
        self
    }
}

fn as_milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_micros() as f64 / 1000.0)
}
