//! Tests that need more than one crate of the workspace. `README.md` says where a new test belongs.

// A dispatcher for the fixtures of `../src`, and helpers to call them.
mod fixtures;

// Golden manifests of the fixtures: one file per theme, in `../golden`.
mod golden;
// An approval is spent when its handler starts, and by nothing else.
mod approval_tokens;
// The arguments shown to the user, recorded in the journal and passed to the handler are the same.
mod decisions;
// The guarded path: approval, dry runs, limits, journal, turns, events.
mod pipeline;
// A hundred thousand concurrent calls; memory is released.
mod reliability;
// Invariants of every schema, whatever the fixture.
mod schemas;

// Valid calls: each fixture returns what the function itself returns.
mod valid_calls;
// Invalid arguments, one file per kind of mistake.
mod arguments;
// Property tests: any text into any tool.
mod properties;

// Tools that `build()` rejects because their types do not keep a promise of their source.
mod binding;
// Handlers that panic, time out or are cancelled; manifests that do not match.
mod calls;
// Which part of an error the model reads, and which the log gets.
mod error_texts;
// The log of building, changing and selecting tools.
mod tool_log;
// Errors repeat only the beginning of what was sent.
mod long_values;
// Tools, calls and results in the formats of model providers, through a dispatcher.
mod dialects;
// Tools called by an alias.
mod tool_aliases;
// Class forms over HTTP and MCP.
mod class_forms;
// Previews.
mod previews;
// Providers, services and scopes.
mod injection;
// Loading, reloading and watching a manifest, and `assert_manifest!()`.
mod manifest;
// Registrations under every linker configuration.
mod linking;
