//! Tests of opening SQLite files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Locked files, and several processes that share a file.
mod processes;
/// Files that are refused: another program's, newer or missing.
mod refused;
/// Fixtures of the other modules.
mod support;
/// Files of older versions.
mod versions;
