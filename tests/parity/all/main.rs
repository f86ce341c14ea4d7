//! Parity tests: the generator reads from a source what the compiler makes of it.

// Published crates, annotated and compiled.
mod adopt;
// Broken or hostile sources.
mod bad_input;
// Defaults that can be derived from the source, and those that cannot.
mod defaults;
// Facts that the source does not tell.
mod exceptions;
// The fixtures of `tool-tests`.
mod fixtures;
// Name resolution.
mod names;
// Contents of `Cargo.toml`.
mod packages;
// A temporary package to scan.
mod project;
// Crates of cargo's registry.
mod registry;
// Random services, compiled in one go.
mod services;
// Where items are found.
mod sources;
