//! Tests of the SQLite journal.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Calls that begin, finish and are repeated.
mod calls;
/// Files that are not journals, newer, damaged or not writable.
mod files;
/// A full disk that gets space again.
mod full_disk;
/// A process that is killed during calls, many times.
mod killed;
/// Pending calls.
mod pending;
/// Several processes that share a file.
mod processes;
/// A dispatcher whose process ends while a call is pending.
mod resumed;
/// Fixtures of the other modules.
mod support;
