//! Tests of the built-in tools through a dispatcher, as a model calls them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

/// The calls of agents that know the tools by other names.
#[cfg(all(feature = "exec", feature = "files", feature = "web", target_os = "linux"))]
mod agents;
/// The `run_command` tool.
#[cfg(all(feature = "exec", target_os = "linux"))]
mod exec;
/// The file tools.
#[cfg(feature = "files")]
mod files;
/// Errors repeat only the beginning of what was sent.
#[cfg(all(feature = "exec", feature = "files", feature = "web", target_os = "linux"))]
mod long_values;
/// The `message` tool.
mod message;
/// The `tool-builtins` program.
#[cfg(all(feature = "cli", feature = "exec", target_os = "linux"))]
mod program;
/// The `spawn` tool.
mod spawn;
/// The web tools.
#[cfg(feature = "web")]
mod web;
