//! The program, run as its users run it.

#![expect(clippy::unwrap_used, reason = "a test ends where something it needs is missing")]

// What each command prints, writes and answers with.
mod diff;
mod docs;
mod lint;
mod packages;
mod show;
mod watch;
mod write;

// A package in a temporary folder, and the program run in it.
mod project;
