//! Writing of journal entries: a call begins, finishes, or is refused.

use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection};
use tool_runtime::journal::{CallKey, CallStatus, FinishedCall, JournalDecision, JournalError, StartedCall};
use tool_sqlite::time::{micros, stamp};

use crate::SqliteJournal;
use crate::error::{ResultExt, not_running, unreadable};

/// Sequence, opening, run, and for a finished call its result and whether its handler was started.
type StatusRow = (i64, i64, i64, Option<String>, Option<bool>);

type CallInsert = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

impl SqliteJournal {
    pub(crate) async fn begin_call(&self, call: &StartedCall) -> Result<CallStatus, JournalError> {
        let run = RunGuard::start(self, &call.key);
        // No other call can begin during the transaction, in this process or in others.
        let mut transaction = self.exclusive().await?;
        match self.status(&mut transaction, &call.key).await? {
            None | Some(CallStatus::NotStarted(_)) => {}
            Some(known) => return Ok(known),
        }
        let insert = "INSERT INTO calls (opening, run, conversation, id, fingerprint, tool, arguments, repairs, \
                      decision, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let insert = sqlx::query(insert).bind(self.0.opening.id).bind(run.number());
        let insert = bind_call(insert, call, call.decision.as_ref());
        insert.execute(&mut *transaction).await.or_unwritten("record the start of a call")?;
        transaction.commit().await.or_unwritten("record the start of a call")?;
        run.keep_running();
        Ok(CallStatus::New)
    }

    /// Returns the status of a call without beginning it.
    pub(crate) async fn recall_call(&self, key: &CallKey) -> Result<Option<CallStatus>, JournalError> {
        if key.identity().is_none() {
            return Ok(None);
        }
        let mut transaction = self.exclusive().await?;
        self.status(&mut transaction, key).await
    }

    /// Returns the status of a call that began earlier. Must run in an exclusive transaction.
    ///
    /// No outcome can be written during that transaction. A call without one is therefore running, or its process has
    /// ended and will never write one.
    async fn status(
        &self,
        connection: &mut SqliteConnection,
        key: &CallKey,
    ) -> Result<Option<CallStatus>, JournalError> {
        let row: Option<StatusRow> = sqlx::query_as(
            "SELECT sequence, opening, run, result, started FROM calls LEFT JOIN outcomes ON call = sequence \
             WHERE conversation = ? AND id = ? AND fingerprint = ? AND run IS NOT NULL \
             ORDER BY sequence DESC LIMIT 1",
        )
        .bind(key.conversation())
        .bind(key.id())
        .bind(fingerprint(key))
        .fetch_optional(connection)
        .await
        .or_unread("the outcome of a call")?;
        let Some((sequence, opening, run, result, started)) = row else { return Ok(None) };
        Ok(Some(match result {
            Some(result) => {
                let result = serde_json::from_str(&result);
                let result = result.map_err(|error| unreadable("the result", sequence, error))?;
                if started == Some(false) { CallStatus::NotStarted(result) } else { CallStatus::Completed(result) }
            }
            None if self.is_running(opening, run) => CallStatus::Running,
            None => CallStatus::Unfinished,
        }))
    }

    pub(crate) async fn finish_call(&self, key: &CallKey, finished: &FinishedCall) -> Result<(), JournalError> {
        // The call counts as ended even if writing its outcome fails.
        let run = RunGuard::end(self, key);
        let inserted = sqlx::query(
            "INSERT INTO outcomes (call, result, duration, started, at) SELECT sequence, ?, ?, ?, ? FROM calls \
             WHERE opening = ? AND run = ? ON CONFLICT DO NOTHING",
        )
        .bind(json(&finished.result))
        .bind(micros(finished.duration))
        .bind(finished.started)
        .bind(stamp(std::time::SystemTime::now()))
        .bind(self.0.opening.id)
        .bind(run.number())
        .execute(self.writer())
        .await
        .or_unwritten("record the outcome of a call")?;
        if inserted.rows_affected() == 1 { Ok(()) } else { Err(not_running()) }
    }

    pub(crate) async fn note_call(&self, call: &StartedCall, decision: &JournalDecision) -> Result<(), JournalError> {
        let insert = "INSERT INTO calls (opening, conversation, id, fingerprint, tool, arguments, repairs, decision, \
                      at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let insert = bind_call(sqlx::query(insert).bind(self.0.opening.id), call, Some(decision));
        insert.execute(self.writer()).await.or_unwritten("record a decision").map(drop)
    }
}

fn bind_call(query: CallInsert, call: &StartedCall, decision: Option<&JournalDecision>) -> CallInsert {
    query
        .bind(call.key.conversation().map(str::to_owned))
        .bind(call.key.id().map(str::to_owned))
        .bind(fingerprint(&call.key))
        .bind(call.tool.clone())
        .bind(call.arguments.to_string())
        .bind(call.repairs.as_ref().map(Value::to_string))
        .bind(decision.map(|decision| decision.as_str().to_owned()))
        .bind(stamp(call.at))
}

/// Hashes the tool and arguments to 32 bytes, since arguments may be long and the hash is indexed.
fn fingerprint(key: &CallKey) -> Vec<u8> {
    Sha256::digest(key.canonical()).to_vec()
}

fn json(result: &tool_runtime::ToolResult) -> String {
    serde_json::to_string(result).unwrap_or_else(|error| unreachable!("a result is plain data: {error}"))
}

/// Removes a run from the running ones when it is dropped, unless it is kept. The caller's future may be dropped at
/// any await point.
struct RunGuard<'a> {
    journal: &'a SqliteJournal,
    run: u64,
    keep_running: bool,
}

impl<'a> RunGuard<'a> {
    /// Adds a run. If it is running already, the guard does not remove it.
    fn start(journal: &'a SqliteJournal, key: &CallKey) -> Self {
        let keep_running = !journal.running().insert(key.run());
        Self { journal, run: key.run(), keep_running }
    }

    /// Returns a guard that removes a run.
    fn end(journal: &'a SqliteJournal, key: &CallKey) -> Self {
        Self { journal, run: key.run(), keep_running: false }
    }

    fn number(&self) -> i64 {
        self.run.cast_signed()
    }

    fn keep_running(mut self) {
        self.keep_running = true;
    }
}

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        if !self.keep_running {
            self.journal.running().remove(&self.run);
        }
    }
}
