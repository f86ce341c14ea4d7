//! A journal that lasts as long as the process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    Begun, BoxFuture, CallKey, Entry, Finished, Journal, JournalError, JournalErrorKind, Query, Started, State,
};

/// A journal in memory: for tests, and for programs that need to recognise a repeated call but not to survive a crash.
///
/// It keeps the newest entries only, 10,000 unless told otherwise. A call that it has forgotten is new again.
#[derive(Debug)]
pub struct MemoryJournal {
    kept: usize,
    records: Mutex<Records>,
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryJournal {
    /// An empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::keeping(10_000)
    }

    /// An empty journal that keeps that many entries. Those of running calls are kept in any case.
    #[must_use]
    pub fn keeping(entries: usize) -> Self {
        Self { kept: entries, records: Mutex::default() }
    }

    /// Nothing that runs under the lock can panic half-way through a change.
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_now(&self, call: &Started) -> Begun {
        let mut records = self.records();
        let identity = call.key.identity().map(owned);
        if let Some(known) = records.recall(&call.key) {
            return known;
        }
        let sequence = records.append(call, call.decision.as_deref(), State::Running);
        records.running.insert(call.key.run(), sequence);
        if let Some(identity) = identity {
            records.known.insert(identity, sequence);
        }
        records.forget_all_but(self.kept);
        Begun::New
    }

    fn finish_now(&self, key: &CallKey, finished: &Finished) -> Result<(), JournalError> {
        let mut records = self.records();
        let sequence = records.running.remove(&key.run());
        let Some(record) = sequence.and_then(|sequence| records.get_mut(sequence)) else {
            let message = "the call to be finished has not begun, or was finished before: finish each call once";
            return Err(JournalError::new(JournalErrorKind::NotRunning, message));
        };
        record.entry.state = State::Finished(finished.clone());
        records.forget_all_but(self.kept);
        Ok(())
    }

    fn note_now(&self, call: &Started, decision: &str) {
        let mut records = self.records();
        records.append(call, Some(decision), State::Noted);
        records.forget_all_but(self.kept);
    }

    fn entries_now(&self, query: &Query) -> Vec<Entry> {
        let records = self.records();
        let newest_first = records.entries.iter().rev().map(|record| &record.entry);
        newest_first.filter(|entry| fits(entry, query)).take(query.limit as usize).cloned().collect()
    }
}

impl Journal for MemoryJournal {
    fn begin<'a>(&'a self, call: &'a Started) -> BoxFuture<'a, Result<Begun, JournalError>> {
        Box::pin(async move { Ok(self.begin_now(call)) })
    }

    fn recall<'a>(&'a self, key: &'a CallKey) -> BoxFuture<'a, Result<Option<Begun>, JournalError>> {
        Box::pin(async move { Ok(self.records().recall(key)) })
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a Finished) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move { self.finish_now(key, finished) })
    }

    fn note<'a>(&'a self, call: &'a Started, decision: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            self.note_now(call, decision);
            Ok(())
        })
    }

    fn entries<'a>(&'a self, query: Query) -> BoxFuture<'a, Result<Vec<Entry>, JournalError>> {
        Box::pin(async move { Ok(self.entries_now(&query)) })
    }
}

/// Conversation, id, tool with arguments.
type Identity = (String, String, String);

fn owned((conversation, id, canonical): (&str, &str, &str)) -> Identity {
    (conversation.to_owned(), id.to_owned(), canonical.to_owned())
}

fn fits(entry: &Entry, query: &Query) -> bool {
    query.conversation.as_ref().is_none_or(|wanted| entry.conversation.as_ref() == Some(wanted))
        && query.tool.as_ref().is_none_or(|wanted| entry.tool == *wanted)
        && query.before.is_none_or(|before| entry.sequence < before)
}

#[derive(Debug, Default)]
struct Records {
    /// By ascending sequence.
    entries: VecDeque<Record>,
    /// The sequences of calls that can be recognised.
    known: HashMap<Identity, u64>,
    /// The sequences of running calls, by their run.
    running: HashMap<u64, u64>,
    last: u64,
}

#[derive(Debug)]
struct Record {
    entry: Entry,
    /// Under which it is known.
    identity: Option<Identity>,
}

impl Records {
    fn recall(&self, key: &CallKey) -> Option<Begun> {
        Some(match self.state(&owned(key.identity()?))? {
            State::Finished(finished) => Begun::Completed(Box::new(finished.result.clone())),
            _ => Begun::Running,
        })
    }

    fn append(&mut self, call: &Started, decision: Option<&str>, state: State) -> u64 {
        self.last += 1;
        let identity = if state == State::Running { call.key.identity().map(owned) } else { None };
        let entry = Entry {
            sequence: self.last,
            conversation: call.key.conversation().map(str::to_owned),
            id: call.key.id().map(str::to_owned),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            repairs: call.repairs.clone(),
            decision: decision.map(str::to_owned),
            at: call.at,
            state,
        };
        self.entries.push_back(Record { entry, identity });
        self.last
    }

    fn place(&self, sequence: u64) -> Option<usize> {
        self.entries.binary_search_by_key(&sequence, |record| record.entry.sequence).ok()
    }

    fn get_mut(&mut self, sequence: u64) -> Option<&mut Record> {
        let place = self.place(sequence)?;
        self.entries.get_mut(place)
    }

    fn state(&self, identity: &Identity) -> Option<&State> {
        let place = self.place(*self.known.get(identity)?)?;
        self.entries.get(place).map(|record| &record.entry.state)
    }

    /// Forgets the oldest, but not one that is running: it is to be finished, and must not run a second time.
    fn forget_all_but(&mut self, kept: usize) {
        while self.entries.len() > kept {
            let ended = |record: &Record| record.entry.state != State::Running;
            let Some(record) = self.entries.iter().position(ended).and_then(|place| self.entries.remove(place)) else {
                return;
            };
            if let Some(identity) = record.identity {
                self.known.remove(&identity);
            }
        }
    }
}

#[cfg(test)]
mod tests;
