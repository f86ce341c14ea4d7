//! The agent loop, one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Turns, calls and failures.
mod answers;
/// Runs that are stopped at every await point.
mod cancelled;
/// Calls that are pending approval.
mod consent;
/// A process that is killed in the middle of its calls.
mod crashed;
/// Decisions that are dropped, and calls whose approval expires.
mod decided;
/// Events for user interfaces.
mod events;
/// Recovery that is itself stopped.
mod left;
/// Limits of a run.
mod limits;
/// Many conversations at once.
mod many;
/// Modes.
mod modes;
/// The offline substitute for a model.
mod offline;
/// Models of providers, without the loop.
mod providers;
/// Validation of the loop's requests by the providers' own packages.
mod python;
/// The loop against a simulated provider.
mod scenarios;
/// The simulated provider.
mod server;
/// One conversation that several processes hold in memory.
mod shared;
/// Shortlists of tools.
mod shortlisted;
/// Sub-agents.
mod spawned;
/// Conversations in SQLite.
mod stored;
/// Tools, models and checks for the other modules.
mod support;
