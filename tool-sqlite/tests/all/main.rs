//! Files as programs open them, one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Files that are locked, and several processes with one file.
mod processes;
/// Files that are another program's, newer or not to be had.
mod refused;
/// What the other modules need.
mod support;
/// Files of older versions.
mod versions;
