//! The requirements that the design started from. Each has a number, and is a test here or listed in `listed.json`
//! with the test that covers it elsewhere or the reason why it differs; `coverage.rs` checks that none is missing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

/// A chat assistant with built-in tools and tools of its users.
mod assistant;
/// The check that every requirement is tested or listed.
mod coverage;
/// Discovery, registration and selection of tools.
mod discovery;
/// A code editor whose model changes files.
mod editor;
/// Definitions, files, registry, execution and remote tools of an agent.
mod engine;
/// Annotations, the generated manifest, types and injection.
mod generator;
/// The tools that the tests call.
mod support;
