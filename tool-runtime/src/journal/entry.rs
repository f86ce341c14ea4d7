//! What a journal shows.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{FinishedCall, JournalDecision};

/// One call on record.
///
/// As JSON it has `at` in milliseconds since 1970, and `state` beside `result` and `milliseconds` where there are such.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JournalEntry {
    /// Its place: later entries have higher numbers.
    pub sequence: u64,
    /// The conversation that the call belongs to.
    pub conversation: Option<String>,
    /// The id that the provider gave the call.
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The arguments, mended and without secrets.
    pub arguments: Value,
    /// What was mended.
    pub repairs: Option<Value>,
    /// The reason why the call ran or did not run.
    pub decision: Option<JournalDecision>,
    /// When it started or was decided on.
    #[serde(serialize_with = "as_milliseconds")]
    pub at: SystemTime,
    /// What came of it.
    #[serde(flatten)]
    pub state: EntryState,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum EntryState {
    /// It did not run; the decision says why.
    Noted,
    /// It is running.
    Running,
    /// It started, and whoever ran it is gone.
    Unfinished,
    /// It ended; [`FinishedCall::started`] says whether its handler had started.
    Finished(FinishedCall),
}

/// Which entries to show.
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
    /// Those of one conversation only.
    pub conversation: Option<String>,
    /// Those of one tool only.
    pub tool: Option<String>,
    /// Those before this [`sequence`](JournalEntry::sequence) only.
    pub before: Option<u64>,
    /// How many at most.
    pub limit: u32,
}

impl EntryQuery {
    /// The newest entries, that many at most.
    #[must_use]
    pub fn newest(limit: u32) -> Self {
        Self { conversation: None, tool: None, before: None, limit }
    }

    /// Of one conversation only.
    #[must_use]
    pub fn conversation(mut self, conversation: impl Into<String>) -> Self {
        self.conversation = Some(conversation.into());
        self
    }

    /// Of one tool only.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// The next page: those before this entry.
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
