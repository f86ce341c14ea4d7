//! A journal in memory.

mod record_buffer;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::record_buffer::{JournalRecord, RecordBuffer, RecordLimit, bytes_of_result};
use super::{
    BoxFuture, CallKey, CallStatus, EntryQuery, EntryState, FinishedCall, Journal, JournalDecision, JournalEntry,
    JournalError, JournalErrorKind, StartedCall,
};

/// A journal in memory, for tests and for programs that need no record after a crash.
///
/// It keeps the newest 10,000 calls that ran and as many decisions without a run, and of either about 64 MB of arguments
/// and results. Decisions do not displace calls, since a forgotten call is new and would run again.
#[derive(Debug)]
pub struct MemoryJournal {
    most: RecordLimit,
    records: Mutex<JournalRecords>,
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryJournal {
    /// Creates an empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::keeping(10_000)
    }

    /// Creates an empty journal that keeps at most this many calls that ran, and as many decisions without a run. Running
    /// calls are never forgotten.
    #[must_use]
    pub fn keeping(entries: usize) -> Self {
        Self { most: RecordLimit { entries, bytes: 64_000_000 }, records: Mutex::default() }
    }

    /// Limits the memory for calls that ran, and that for decisions, to about this many bytes. The call that finished last is
    /// kept until another begins, however long its result is.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.most.bytes = bytes;
        self
    }

    /// Locks the records. A poisoned lock is used: no code under the lock can panic halfway through a change.
    fn records(&self) -> MutexGuard<'_, JournalRecords> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_now(&self, call: &StartedCall) -> CallStatus {
        let mut records = self.records();
        let identity = call.key.identity().map(owned);
        match records.recall(&call.key) {
            None | Some(CallStatus::NotStarted(_)) => {}
            Some(known) => return known,
        }
        let entry = records.entry(call, call.decision.as_ref(), EntryState::Running);
        records.running.insert(call.key.run(), entry.sequence);
        if let Some(identity) = &identity {
            let before = records.known.insert(identity.clone(), entry.sequence);
            // Forgetting the older record must not forget the call.
            if let Some(before) = before.and_then(|sequence| records.get_mut(sequence)) {
                before.identity = None;
            }
        }
        records.runs.push(JournalRecord::new(entry, identity));
        records.forget_runs_but(self.most);
        CallStatus::New
    }

    fn finish_now(&self, key: &CallKey, finished: &FinishedCall) -> Result<(), JournalError> {
        let mut records = self.records();
        let sequence = records.running.remove(&key.run());
        let Some(place) = sequence.and_then(|sequence| records.place(sequence)) else {
            let message = "the call has not begun or was finished before: finish each call once";
            return Err(JournalError::new(JournalErrorKind::NotRunning, message));
        };
        // Older records are removed for its result while it still counts as running, so that it is not forgotten itself.
        records.runs.grow(place, bytes_of_result(&finished.result));
        records.forget_runs_but(self.most);
        if let Some(run) = sequence.and_then(|sequence| records.get_mut(sequence)) {
            run.entry.state = EntryState::Finished(finished.clone());
        }
        Ok(())
    }

    fn note_now(&self, call: &StartedCall, decision: &JournalDecision) {
        let mut records = self.records();
        let entry = records.entry(call, Some(decision), EntryState::Noted);
        records.notes.push(JournalRecord::new(entry, None));
        records.notes.forget_all_but(self.most);
    }

    fn entries_now(&self, query: &EntryQuery) -> Vec<JournalEntry> {
        let records = self.records();
        records.newest_first().filter(|entry| fits(entry, query)).take(query.limit as usize).cloned().collect()
    }
}

impl Journal for MemoryJournal {
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        Box::pin(async move { Ok(self.begin_now(call)) })
    }

    fn recall<'a>(&'a self, key: &'a CallKey) -> BoxFuture<'a, Result<Option<CallStatus>, JournalError>> {
        Box::pin(async move { Ok(self.records().recall(key)) })
    }

    /// Returns `None` for an unknown call: it may have run in an earlier process.
    fn state_of<'a>(
        &'a self,
        conversation: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<EntryState>, JournalError>> {
        Box::pin(async move { Ok(self.records().state_of(conversation, id)) })
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move { self.finish_now(key, finished) })
    }

    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            self.note_now(call, decision);
            Ok(())
        })
    }

    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        Box::pin(async move { Ok(self.entries_now(&query)) })
    }
}

/// Conversation, id, and tool with arguments.
type Identity = (String, String, String);

fn owned((conversation, id, canonical): (&str, &str, &str)) -> Identity {
    (conversation.to_owned(), id.to_owned(), canonical.to_owned())
}

fn fits(entry: &JournalEntry, query: &EntryQuery) -> bool {
    query.conversation.as_ref().is_none_or(|wanted| entry.conversation.as_ref() == Some(wanted))
        && query.tool.as_ref().is_none_or(|wanted| entry.tool == *wanted)
        && query.before.is_none_or(|before| entry.sequence < before)
}

#[derive(Debug, Default)]
struct JournalRecords {
    /// Calls that ran.
    runs: RecordBuffer,
    /// Decisions without a run.
    notes: RecordBuffer,
    /// The sequence numbers of calls with an identity.
    known: HashMap<Identity, u64>,
    /// The sequence numbers of running calls, by their run.
    running: HashMap<u64, u64>,
    last: u64,
}

impl JournalRecords {
    fn recall(&self, key: &CallKey) -> Option<CallStatus> {
        Some(match self.state(&owned(key.identity()?))? {
            EntryState::Finished(finished) if !finished.started => {
                CallStatus::NotStarted(Box::new(finished.result.clone()))
            }
            EntryState::Finished(finished) => CallStatus::Completed(Box::new(finished.result.clone())),
            _ => CallStatus::Running,
        })
    }

    /// Returns the state of the newest run whose handler was started. A call with decisions only has none: its run may have
    /// been forgotten.
    fn state_of(&self, conversation: &str, id: &str) -> Option<EntryState> {
        let is_it = |entry: &JournalEntry| {
            (entry.conversation.as_deref(), entry.id.as_deref()) == (Some(conversation), Some(id))
                && !matches!(&entry.state, EntryState::Finished(finished) if !finished.started)
        };
        self.runs.newest_first().find(|entry| is_it(entry)).map(|entry| entry.state.clone())
    }

    /// Creates the next entry.
    fn entry(&mut self, call: &StartedCall, decision: Option<&JournalDecision>, state: EntryState) -> JournalEntry {
        self.last += 1;
        JournalEntry {
            sequence: self.last,
            conversation: call.key.conversation().map(str::to_owned),
            id: call.key.id().map(str::to_owned),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            repairs: call.repairs.clone(),
            decision: decision.cloned(),
            at: call.at,
            state,
        }
    }

    fn newest_first(&self) -> impl Iterator<Item = &JournalEntry> {
        let mut runs = self.runs.newest_first().peekable();
        let mut notes = self.notes.newest_first().peekable();
        std::iter::from_fn(move || match (runs.peek(), notes.peek()) {
            (Some(run), Some(note)) if note.sequence > run.sequence => notes.next(),
            (Some(_), _) => runs.next(),
            (None, _) => notes.next(),
        })
    }

    fn place(&self, sequence: u64) -> Option<usize> {
        self.runs.records.binary_search_by_key(&sequence, |run| run.entry.sequence).ok()
    }

    fn get_mut(&mut self, sequence: u64) -> Option<&mut JournalRecord> {
        let place = self.place(sequence)?;
        self.runs.records.get_mut(place)
    }

    fn state(&self, identity: &Identity) -> Option<&EntryState> {
        let place = self.place(*self.known.get(identity)?)?;
        self.runs.records.get(place).map(|run| &run.entry.state)
    }

    /// Forgets the oldest calls that are not running.
    fn forget_runs_but(&mut self, most: RecordLimit) {
        for identity in self.runs.forget_all_but(most) {
            self.known.remove(&identity);
        }
    }
}

#[cfg(test)]
mod tests;
