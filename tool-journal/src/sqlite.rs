//! The journal in a SQLite file.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::{Sqlite, SqlitePool, Transaction};
use tool_runtime::journal::{
    BoxFuture, CallKey, CallStatus, EntryQuery, EntryState, FinishedCall, Journal, JournalDecision, JournalEntry,
    JournalError, StartedCall,
};
use tool_sqlite::{Database, Kind};

use crate::error::{ResultExt, not_opened};
use crate::opening::Opening;

const JOURNAL: Kind = Kind {
    application: *b"tljr",
    name: "the journal",
    others: "no journal of calls",
    migrations: &[include_str!("schema/1.sql"), include_str!("schema/2.sql")],
    // What is pruned is overwritten, not only forgotten.
    pragmas: &[("secure_delete", "ON")],
    queue: Duration::from_secs(10),
};

/// A record of calls in a SQLite file. A clone is the same journal.
#[derive(Clone, Debug)]
pub struct SqliteJournal(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    file: Database,
    pub(crate) opening: Opening,
    identity: String,
    /// The runs of this opening that are on their way.
    running: Mutex<HashSet<u64>>,
}

impl SqliteJournal {
    /// Opens a journal, and makes the file if there is none.
    ///
    /// # Errors
    /// If the file cannot be written, is damaged, is another program's database, or was written by a newer version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let file = JOURNAL.open(path).await.map_err(not_opened)?;
        let mut transaction = file.exclusive().await.or_unwritten("be locked for writing")?;
        let opening = Opening::register(&mut transaction, &file.path).await?;
        let identity = Opening::first(&mut transaction).await?;
        transaction.commit().await.or_unwritten("register this process")?;
        Ok(Self(Arc::new(Inner { file, opening, identity, running: Mutex::default() })))
    }

    /// Writes everything to the file itself and closes it. Dropping the last clone does the same, some time later.
    pub async fn close(self) {
        self.0.file.close().await;
    }

    /// A transaction during which nobody else writes, neither here nor in another process.
    pub(crate) async fn exclusive(&self) -> Result<Transaction<'static, Sqlite>, JournalError> {
        self.0.file.exclusive().await.or_unwritten("be locked for writing")
    }

    pub(crate) fn writer(&self) -> &SqlitePool {
        &self.0.file.writer
    }

    pub(crate) fn readers(&self) -> &SqlitePool {
        &self.0.file.readers
    }

    pub(crate) fn running(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a call that has no outcome yet may still get one.
    pub(crate) fn is_running(&self, opening: i64, run: i64) -> bool {
        if opening == self.0.opening.id {
            self.running().contains(&run.cast_unsigned())
        } else {
            self.0.opening.is_alive(opening)
        }
    }
}

impl Journal for SqliteJournal {
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        Box::pin(self.begin_call(call))
    }

    fn recall<'a>(&'a self, key: &'a CallKey) -> BoxFuture<'a, Result<Option<CallStatus>, JournalError>> {
        Box::pin(self.recall_call(key))
    }

    /// That of its file. One that was begun anew is another; one that was restored from a copy is taken for what it was.
    fn identity(&self) -> Option<&str> {
        Some(&self.0.identity)
    }

    fn opening(&self) -> Option<u64> {
        Some(self.0.opening.id.cast_unsigned())
    }

    fn is_open_elsewhere(&self, opening: u64) -> bool {
        let opening = opening.cast_signed();
        opening != self.0.opening.id && self.0.opening.is_alive(opening)
    }

    fn state_of<'a>(
        &'a self,
        conversation: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<EntryState>, JournalError>> {
        Box::pin(self.state_of_call(conversation, id))
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(self.finish_call(key, finished))
    }

    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(self.note_call(call, decision))
    }

    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        Box::pin(self.read_entries(query))
    }
}
