//! Writing: a call begins, finishes, or is decided not to run.

use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection};
use tool_runtime::journal::{CallKey, CallStatus, FinishedCall, JournalDecision, JournalError, StartedCall};
use tool_sqlite::time::{micros, stamp};

use crate::SqliteJournal;
use crate::error::{ResultExt, not_running, unreadable};

/// Sequence, opening, run, and the result of one that ended with whether its handler was started.
type Known = (i64, i64, i64, Option<String>, Option<bool>);

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

impl SqliteJournal {
    pub(crate) async fn begin_call(&self, call: &StartedCall) -> Result<CallStatus, JournalError> {
        let run = Run::start(self, &call.key);
        // Until it ends nobody else begins a call, here or in another process.
        let mut transaction = self.exclusive().await?;
        match self.known(&mut transaction, &call.key).await? {
            None | Some(CallStatus::NotStarted(_)) => {}
            Some(known) => return Ok(known),
        }
        let insert = "INSERT INTO calls (opening, run, conversation, id, fingerprint, tool, arguments, repairs, \
                      decision, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let insert = sqlx::query(insert).bind(self.0.opening.id).bind(run.number());
        let insert = bind_call(insert, call, call.decision.as_ref());
        insert.execute(&mut *transaction).await.or_unwritten("record that a call starts")?;
        transaction.commit().await.or_unwritten("record that a call starts")?;
        run.goes_on();
        Ok(CallStatus::New)
    }

    /// What is known of a call, without starting it.
    pub(crate) async fn recall_call(&self, key: &CallKey) -> Result<Option<CallStatus>, JournalError> {
        if key.identity().is_none() {
            return Ok(None);
        }
        let mut transaction = self.exclusive().await?;
        self.known(&mut transaction, key).await
    }

    /// What there is of a call that began before, in an exclusive transaction.
    ///
    /// Nobody can write an outcome until that ends. So a call without one has not ended, and who runs it either lives or
    /// never writes one.
    async fn known(
        &self,
        connection: &mut SqliteConnection,
        key: &CallKey,
    ) -> Result<Option<CallStatus>, JournalError> {
        let row: Option<Known> = sqlx::query_as(
            "SELECT sequence, opening, run, result, started FROM calls LEFT JOIN outcomes ON call = sequence \
             WHERE conversation = ? AND id = ? AND fingerprint = ? AND run IS NOT NULL \
             ORDER BY sequence DESC LIMIT 1",
        )
        .bind(key.conversation())
        .bind(key.id())
        .bind(fingerprint(key))
        .fetch_optional(connection)
        .await
        .or_unread("what came of a call")?;
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
        // Whether or not it gets written: after this the call does not run any more.
        let run = Run::end(self, key);
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

fn bind_call(query: Query, call: &StartedCall, decision: Option<&JournalDecision>) -> Query {
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

/// Tool and arguments in 32 bytes: the arguments may be long, and an index holds this.
fn fingerprint(key: &CallKey) -> Vec<u8> {
    Sha256::digest(key.canonical()).to_vec()
}

fn json(result: &tool_runtime::ToolResult) -> String {
    serde_json::to_string(result).unwrap_or_else(|error| unreachable!("a result is plain data: {error}"))
}

/// The end of a run's running, unless it goes on: a caller may go away in the middle of anything.
struct Run<'a> {
    journal: &'a SqliteJournal,
    run: u64,
    goes_on: bool,
}

impl<'a> Run<'a> {
    /// One that is about to run. If it does already, it is not for this one to end it.
    fn start(journal: &'a SqliteJournal, key: &CallKey) -> Self {
        let goes_on = !journal.running().insert(key.run());
        Self { journal, run: key.run(), goes_on }
    }

    /// One that ends.
    fn end(journal: &'a SqliteJournal, key: &CallKey) -> Self {
        Self { journal, run: key.run(), goes_on: false }
    }

    fn number(&self) -> i64 {
        self.run.cast_signed()
    }

    fn goes_on(mut self) {
        self.goes_on = true;
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if !self.goes_on {
            self.journal.running().remove(&self.run);
        }
    }
}
