//! Entries of a journal, and queries for them.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{FinishedCall, JournalDecision};

/// One recorded call.
///
/// In JSON, `at` is in milliseconds since 1970, and `result` and `milliseconds` are beside `state`, if it has them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JournalEntry {
    /// The sequence number: later entries have higher ones.
    pub sequence: u64,
    /// The conversation of the call.
    pub conversation: Option<String>,
    /// The id that the model provider gave the call.
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The arguments, repaired and redacted.
    pub arguments: Value,
    /// The repairs.
    pub repairs: Option<Value>,
    /// The reason why the call ran or did not run.
    pub decision: Option<JournalDecision>,
    /// The time of the start or of the decision.
    #[serde(serialize_with = "as_milliseconds")]
    pub at: SystemTime,
    /// The state of the call.
    #[serde(flatten)]
    pub state: EntryState,
}

/// The state of a recorded call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum EntryState {
    /// The call did not run; the decision is the reason.
    Noted,
    /// The call is running.
    Running,
    /// The call started, and its process is gone.
    Unfinished,
    /// The call ended; [`FinishedCall::started`] is `true` if its handler was entered.
    Finished(FinishedCall),
}

/// A query for entries.
///
/// ```
/// use tool_runtime::journal::EntryQuery;
///
/// let first_page = EntryQuery::newest(50).conversation("chat-7");
/// let oldest_shown = 1234; // the `sequence` of the last entry on that page
/// let next_page = first_page.before(oldest_shown);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EntryQuery {
    /// The only conversation.
    pub conversation: Option<String>,
    /// The only tool.
    pub tool: Option<String>,
    /// The [`sequence`](JournalEntry::sequence) before which entries are returned.
    pub before: Option<u64>,
    /// The maximum number of entries.
    pub limit: u32,
}

impl EntryQuery {
    /// Creates a query for the newest entries.
    #[must_use]
    pub fn newest(limit: u32) -> Self {
        Self { conversation: None, tool: None, before: None, limit }
    }

    /// Restricts the query to one conversation.
    #[must_use]
    pub fn conversation(mut self, conversation: impl Into<String>) -> Self {
        self.conversation = Some(conversation.into());
        self
    }

    /// Restricts the query to one tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// Restricts the query to entries before this one, for the next page.
    #[must_use]
    pub fn before(mut self, sequence: u64) -> Self {
        self.before = Some(sequence);
        self
    }
}

fn as_milliseconds<S: Serializer>(at: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
