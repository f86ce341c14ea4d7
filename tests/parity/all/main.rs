//! What the generator reads in a source is what the compiler makes of it.

// Sources that are broken, or meant to break the reader.
mod bad_input;
// Defaults that are seen, and those that are not.
mod defaults;
// What the source does not tell.
mod exceptions;
// The fixtures of `tool-tests`.
mod fixtures;
// What a name means.
mod names;
// What `Cargo.toml` says.
mod packages;
// A package to be scanned.
mod project;
// Other people's sources.
mod registry;
// Random services, compiled in one go.
mod services;
// Where items are found.
mod sources;
