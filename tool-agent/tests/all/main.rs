//! The agent loop, one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Turns, calls and what goes wrong with them.
mod answers;
/// Runs that are dropped at every point at which they wait.
mod cancelled;
/// Calls that wait for a person.
mod consent;
/// What an interface is told.
mod events;
/// How far a run may go.
mod limits;
/// Many conversations at once.
mod many;
/// BUILD and PLAN.
mod modes;
/// A model that is none.
mod offline;
/// Sub-agents.
mod spawned;
/// Conversations in SQLite.
mod stored;
/// What the other modules need.
mod support;
