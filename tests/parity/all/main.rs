//! What the generator reads in a source is what the compiler makes of it.

// Sources that are broken, or meant to break the reader.
mod bad_input;
// What the source does not tell.
mod exceptions;
// The fixtures of `tool-tests`.
mod fixtures;
// Other people's sources.
mod registry;
// Random services, compiled in one go.
mod services;
