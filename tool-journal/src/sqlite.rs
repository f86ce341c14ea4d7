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
use tool_sqlite::{Database, FileKind};

use crate::error::{ResultExt, not_opened};
use crate::opening::Opening;

const JOURNAL: FileKind = FileKind {
    application: *b"tljr",
    name: "the journal",
    others: "not a journal of calls",
    migrations: &[include_str!("schema/1.sql"), include_str!("schema/2.sql")],
    // Overwrites deleted content.
    pragmas: &[("secure_delete", "ON")],
    queue: Duration::from_secs(10),
};

/// A journal of calls in a SQLite file. Clones share the connections.
#[derive(Clone, Debug)]
pub struct SqliteJournal(pub(crate) Arc<OpenJournal>);

#[derive(Debug)]
pub(crate) struct OpenJournal {
    file: Database,
    pub(crate) opening: Opening,
    identity: String,
    /// The running calls of this opening.
    running: Mutex<HashSet<u64>>,
}

impl SqliteJournal {
    /// Opens a journal, and creates the file if it does not exist.
    ///
    /// # Errors
    /// If the file cannot be written, is damaged, is another program's database, or was written by a newer version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let file = JOURNAL.open(path).await.map_err(not_opened)?;
        let mut transaction = file.exclusive().await.or_unwritten("lock the file for writing")?;
        let opening = Opening::register(&mut transaction, &file.path).await?;
        let identity = Opening::first_identity(&mut transaction).await?;
        transaction.commit().await.or_unwritten("register this process")?;
        Ok(Self(Arc::new(OpenJournal { file, opening, identity, running: Mutex::default() })))
    }

    /// Writes the write-ahead log to the file and closes it. Dropping the last clone does the same, but later.
    pub async fn close(self) {
        self.0.file.close().await;
    }

    /// Begins a transaction that excludes all other writers, in this process and in others.
    pub(crate) async fn exclusive(&self) -> Result<Transaction<'static, Sqlite>, JournalError> {
        self.0.file.exclusive().await.or_unwritten("lock the file for writing")
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

    /// Returns `true` if a call without an outcome may still get one.
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

    /// Returns the identity of the file. A new file has another one; a file restored from a copy keeps it.
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
