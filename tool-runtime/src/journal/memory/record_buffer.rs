//! A buffer of records, limited by number and size.

use std::collections::VecDeque;

use serde_json::Value;

use super::{EntryState, Identity, JournalEntry};
use crate::ToolResult;

/// The limits of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordLimit {
    pub entries: usize,
    pub bytes: usize,
}

#[derive(Debug)]
pub(super) struct JournalRecord {
    pub entry: JournalEntry,
    /// The identity under which the call is known.
    pub identity: Option<Identity>,
    /// The approximate size.
    bytes: usize,
}

impl JournalRecord {
    /// Creates the record of a call without a result.
    pub fn new(entry: JournalEntry, identity: Option<Identity>) -> Self {
        let values = [Some(&entry.arguments), entry.repairs.as_ref()].into_iter().flatten();
        // The identity is also a key of the map.
        let known = identity.as_ref().map_or(0, |(conversation, id, call)| conversation.len() + id.len() + call.len());
        let bytes = size_of::<Self>() + entry.tool.len() + values.map(bytes_of).sum::<usize>() + 2 * known;
        Self { entry, identity, bytes }
    }
}

/// Records in the order of their sequence numbers.
#[derive(Debug, Default)]
pub(super) struct RecordBuffer {
    pub records: VecDeque<JournalRecord>,
    bytes: usize,
}

impl RecordBuffer {
    pub fn push(&mut self, record: JournalRecord) {
        self.bytes += record.bytes;
        self.records.push_back(record);
    }

    /// Adds to the size of the record at an index.
    pub fn grow(&mut self, place: usize, bytes: usize) {
        if let Some(record) = self.records.get_mut(place) {
            record.bytes += bytes;
            self.bytes += bytes;
        }
    }

    pub fn newest_first(&self) -> impl Iterator<Item = &JournalEntry> {
        self.records.iter().rev().map(|record| &record.entry)
    }

    /// Forgets the oldest records that are not running. Returns their identities.
    pub fn forget_all_but(&mut self, most: RecordLimit) -> Vec<Identity> {
        let mut forgotten = Vec::new();
        while self.records.len() > most.entries || self.bytes > most.bytes {
            let ended = |record: &JournalRecord| record.entry.state != EntryState::Running;
            let Some(record) = self.records.iter().position(ended).and_then(|place| self.records.remove(place)) else {
                break;
            };
            self.bytes -= record.bytes;
            forgotten.extend(record.identity);
        }
        forgotten
    }
}

/// Returns the approximate size of a result.
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
