//! The built-in tools through a dispatcher, as a model calls them; one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Commands.
#[cfg(all(feature = "exec", target_os = "linux"))]
mod exec;
/// What a workspace lets through, and what it does not.
#[cfg(feature = "files")]
mod files;
/// Messages to people.
mod message;
/// The program, line by line.
#[cfg(all(feature = "cli", feature = "exec", target_os = "linux"))]
mod program;
/// Sub-agents.
mod spawn;
/// Pages and searches.
#[cfg(feature = "web")]
mod web;
