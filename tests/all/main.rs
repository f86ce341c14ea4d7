//! All tests of the workspace that need more than one crate; `README.md` says which test goes where.

// The fixtures of `../src` behind one dispatcher, and how a test calls them.
mod fixtures;

// What the manifest says of the fixtures: one golden file per theme, in `../golden`.
mod manifests;
// What an approval is spent by.
mod approvals;
// What is asked, recorded and run is one and the same; what becomes of consent.
mod decisions;
// Consent, dry runs, limits, records, turns, events.
mod pipeline;
// Very many calls at once.
mod reliability;
// What holds for every schema, whatever the fixture.
mod schemas;

// Good calls: each fixture answers what the function itself gives.
mod answers;
// Bad arguments, one file per kind of mistake.
mod arguments;
// Any text into any tool.
mod properties;

// What `build()` makes of promises that cannot be kept.
mod binding;
// Handlers that panic, wait too long or are cancelled; manifests that do not fit.
mod calls;
// Tools, calls and results in providers' forms, through a dispatcher.
mod dialects;
// Class forms over HTTP and MCP.
mod doors;
// What a call would do.
mod previews;
// Providers, services and scopes.
mod injection;
// Manifests that do not fit, loading another one, watching its file, and the author's test of it.
mod manifest;
// Registrations under every linker setting.
mod linking;
