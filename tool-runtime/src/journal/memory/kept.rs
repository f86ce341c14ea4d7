//! What is kept in memory: so many records, of so many bytes.

use std::collections::VecDeque;

use serde_json::Value;

use super::{EntryState, Identity, JournalEntry};
use crate::ToolResult;

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub entries: usize,
    pub bytes: usize,
}

#[derive(Debug)]
pub(super) struct Record {
    pub entry: JournalEntry,
    /// Under which it is known.
    pub identity: Option<Identity>,
    /// About what it takes.
    bytes: usize,
}

impl Record {
    /// One whose call has no result yet.
    pub fn new(entry: JournalEntry, identity: Option<Identity>) -> Self {
        let values = [Some(&entry.arguments), entry.repairs.as_ref()].into_iter().flatten();
        // Whatever it is known under is kept twice.
        let known = identity.as_ref().map_or(0, |(conversation, id, call)| conversation.len() + id.len() + call.len());
        let bytes = size_of::<Self>() + entry.tool.len() + values.map(bytes_of).sum::<usize>() + 2 * known;
        Self { entry, identity, bytes }
    }
}

/// Records by ascending sequence.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub records: VecDeque<Record>,
    bytes: usize,
}

impl Kept {
    pub fn push(&mut self, record: Record) {
        self.bytes += record.bytes;
        self.records.push_back(record);
    }

    /// The record at that place takes so much more.
    pub fn grow(&mut self, place: usize, bytes: usize) {
        if let Some(record) = self.records.get_mut(place) {
            record.bytes += bytes;
            self.bytes += bytes;
        }
    }

    pub fn newest_first(&self) -> impl Iterator<Item = &JournalEntry> {
        self.records.iter().rev().map(|record| &record.entry)
    }

    /// Forgets the oldest, but not those that run; what the forgotten were known under.
    pub fn forget_all_but(&mut self, most: Bound) -> Vec<Identity> {
        let mut forgotten = Vec::new();
        while self.records.len() > most.entries || self.bytes > most.bytes {
            let ended = |record: &Record| record.entry.state != EntryState::Running;
            let Some(record) = self.records.iter().position(ended).and_then(|place| self.records.remove(place)) else {
                break;
            };
            self.bytes -= record.bytes;
            forgotten.extend(record.identity);
        }
        forgotten
    }
}

/// About what a result takes.
pub(super) fn bytes_of_result(result: &ToolResult) -> usize {
    let error = result.error.as_ref().map_or(0, |error| error.message.len());
    result.output.len() + error + result.metadata.iter().map(|(key, value)| key.len() + bytes_of(value)).sum::<usize>()
}

fn bytes_of(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes_of).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + bytes_of(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inside
}
