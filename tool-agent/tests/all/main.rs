//! The agent loop, one binary.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

/// Calls that are pending approval.
mod approvals;
/// Runs that are stopped at every await point.
mod cancellation;
/// Many conversations at once.
mod concurrency;
/// A process that is killed in the middle of its calls.
mod crashes;
/// Decisions that are dropped, and calls whose approval expires.
mod decisions;
/// Events for user interfaces.
mod events;
/// Limits of a run.
mod limits;
/// Modes.
mod modes;
/// The offline substitute for a model.
mod offline;
/// One conversation that several processes hold in memory.
mod processes;
/// Models of providers, without the loop.
mod providers;
/// Validation of the loop's requests by the providers' own packages.
mod python;
/// Recovery that is itself stopped.
mod recovery;
/// The loop against a simulated provider.
mod scenarios;
/// Scripted models and failed calls.
mod scripts;
/// The simulated provider.
mod server;
/// Shortlists of tools.
mod shortlists;
/// Conversations in SQLite.
mod storage;
/// Sub-agents.
mod sub_agents;
/// Tools, models and checks for the other modules.
mod support;
/// Turns, calls and failures.
mod turns;
