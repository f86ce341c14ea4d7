//! The agent loop, one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Turns, calls and what goes wrong with them.
mod answers;
/// Runs that are stopped at every point at which they wait.
mod cancelled;
/// Calls that wait for a person.
mod consent;
/// A process that is killed in the middle of its calls.
mod crashed;
/// Decisions that are stopped, and calls that stop waiting without one.
mod decided;
/// What an interface is told.
mod events;
/// What a process has left behind, found by somebody who is stopped.
mod left;
/// How far a run may go.
mod limits;
/// Many conversations at once.
mod many;
/// BUILD and PLAN.
mod modes;
/// A model that is none.
mod offline;
/// The providers' models, without the loop.
mod providers;
/// What the providers' own packages think of what the loop sends.
mod python;
/// The loop against a server that answers as the providers do.
mod scenarios;
/// That server.
mod server;
/// One conversation that several processes hold in memory.
mod shared;
/// Agents of more tools than a model is sent.
mod shortlisted;
/// Sub-agents.
mod spawned;
/// Conversations in SQLite.
mod stored;
/// What the other modules need.
mod support;
