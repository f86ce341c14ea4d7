//! Tests of the SQLite journal.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Calls that begin, finish and come again.
mod calls;
/// Files that are no journal, newer, damaged or not writable.
mod files;
/// A disk without room, and with room again.
mod full_disk;
/// A process that is killed in the middle of calls, many times.
mod killed;
/// Calls that wait for a confirmation.
mod pending;
/// Several processes with one file.
mod processes;
/// A dispatcher whose process ends while a call waits for consent.
mod resumed;
/// What the other modules need.
mod support;
