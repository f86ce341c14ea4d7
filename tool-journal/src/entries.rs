//! Queries for journal entries.

use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row as _};
use tool_runtime::journal::{EntryQuery, EntryState, FinishedCall, JournalDecision, JournalEntry, JournalError};
use tool_sqlite::time::{from_micros, from_stamp};

use crate::SqliteJournal;
use crate::error::{ResultExt, unreadable};

impl SqliteJournal {
    pub(crate) async fn read_entries(&self, query: EntryQuery) -> Result<Vec<JournalEntry>, JournalError> {
        let mut select = sqlx::QueryBuilder::new(
            "SELECT sequence, opening, run, conversation, id, tool, arguments, repairs, decision, calls.at, result, \
             duration, started FROM calls LEFT JOIN outcomes ON call = sequence WHERE true",
        );
        if let Some(conversation) = query.conversation {
            select.push(" AND conversation = ").push_bind(conversation);
        }
        if let Some(tool) = query.tool {
            select.push(" AND tool = ").push_bind(tool);
        }
        if let Some(before) = query.before {
            select.push(" AND sequence < ").push_bind(i64::try_from(before).unwrap_or(i64::MAX));
        }
        select.push(" ORDER BY sequence DESC LIMIT ").push_bind(query.limit);
        let rows: Vec<CallRow> = select.build_query_as().fetch_all(self.readers()).await.or_unread("its entries")?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            entries.push(self.entry(row).await?);
        }
        Ok(entries)
    }

    /// Returns the state of a call. A call without an entry is `Noted`, or `None` if its entry may have been
    /// [pruned](SqliteJournal::prune). Ignores runs whose handler was not started.
    pub(crate) async fn state_of_call(&self, conversation: &str, id: &str) -> Result<Option<EntryState>, JournalError> {
        let row: Option<CallRow> = sqlx::query_as(
            "SELECT sequence, opening, run, conversation, id, tool, arguments, repairs, decision, calls.at, result, \
             duration, started FROM calls LEFT JOIN outcomes ON call = sequence \
             WHERE conversation = ? AND id = ? AND run IS NOT NULL AND started IS NOT 0 ORDER BY sequence DESC LIMIT 1",
        )
        .bind(conversation)
        .bind(id)
        .fetch_optional(self.readers())
        .await
        .or_unread("the state of a call")?;
        match row {
            Some(row) => self.state(&row).await.map(Some),
            None => Ok(self.is_complete().await?.then_some(EntryState::Noted)),
        }
    }

    /// Returns `true` if no entry was ever removed.
    async fn is_complete(&self) -> Result<bool, JournalError> {
        let (is_complete,): (bool,) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM calls) = \
             coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'calls'), 0)",
        )
        .fetch_one(self.readers())
        .await
        .or_unread("the number of entries")?;
        Ok(is_complete)
    }

    async fn entry(&self, row: CallRow) -> Result<JournalEntry, JournalError> {
        let state = self.state(&row).await?;
        Ok(JournalEntry {
            sequence: row.sequence.cast_unsigned(),
            conversation: row.conversation,
            id: row.id,
            tool: row.tool,
            arguments: parsed("the arguments", row.sequence, &row.arguments)?,
            repairs: row.repairs.map(|repairs| parsed("the repairs", row.sequence, &repairs)).transpose()?,
            decision: row.decision.map(JournalDecision::from),
            at: from_stamp(row.at),
            state,
        })
    }

    async fn state(&self, row: &CallRow) -> Result<EntryState, JournalError> {
        let Some(run) = row.run else { return Ok(EntryState::Noted) };
        match &row.outcome {
            Some(outcome) => outcome.state(row.sequence),
            None if self.is_running(row.opening, run) => Ok(EntryState::Running),
            // The call may have finished since the row was read. Otherwise it never will.
            None => match self.outcome(row.sequence).await? {
                Some(outcome) => outcome.state(row.sequence),
                None => Ok(EntryState::Unfinished),
            },
        }
    }

    async fn outcome(&self, sequence: i64) -> Result<Option<OutcomeRow>, JournalError> {
        let row = sqlx::query("SELECT result, duration, started FROM outcomes WHERE call = ?").bind(sequence);
        let row = row.fetch_optional(self.readers()).await.or_unread("the outcome of a call")?;
        Ok(row.map(|row| OutcomeRow::read(&row)).transpose().or_unread("the outcome of a call")?.flatten())
    }
}

fn parsed(what: &str, sequence: i64, text: &str) -> Result<Value, JournalError> {
    serde_json::from_str(text).map_err(|error| unreadable(what, sequence, error))
}

struct CallRow {
    sequence: i64,
    opening: i64,
    run: Option<i64>,
    conversation: Option<String>,
    id: Option<String>,
    tool: String,
    arguments: String,
    repairs: Option<String>,
    decision: Option<String>,
    at: i64,
    outcome: Option<OutcomeRow>,
}

impl FromRow<'_, SqliteRow> for CallRow {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            sequence: row.try_get("sequence")?,
            opening: row.try_get("opening")?,
            run: row.try_get("run")?,
            conversation: row.try_get("conversation")?,
            id: row.try_get("id")?,
            tool: row.try_get("tool")?,
            arguments: row.try_get("arguments")?,
            repairs: row.try_get("repairs")?,
            decision: row.try_get("decision")?,
            at: row.try_get("at")?,
            outcome: OutcomeRow::read(row)?,
        })
    }
}

struct OutcomeRow {
    result: String,
    duration: i64,
    started: bool,
}

impl OutcomeRow {
    fn read(row: &SqliteRow) -> sqlx::Result<Option<Self>> {
        let Some(result) = row.try_get("result")? else { return Ok(None) };
        Ok(Some(Self { result, duration: row.try_get("duration")?, started: row.try_get("started")? }))
    }

    fn state(&self, sequence: i64) -> Result<EntryState, JournalError> {
        let result = serde_json::from_str(&self.result).map_err(|error| unreadable("the result", sequence, error))?;
        Ok(EntryState::Finished(FinishedCall::new(result, from_micros(self.duration)).started(self.started)))
    }
}
