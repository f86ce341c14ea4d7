//! Tests that run the binary.

#![expect(clippy::unwrap_used, reason = "a test ends where something it needs is missing")]

// Output, files and exit codes of each command.
mod adopt;
mod diff;
mod docs;
mod lint;
mod packages;
mod show;
mod starter;
mod watch;
mod write;

// A package in a temporary directory.
mod project;
