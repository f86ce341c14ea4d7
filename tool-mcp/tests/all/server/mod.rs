/// A client in the same process, of either generation.
mod connected;
/// Asking the user before a call runs.
mod consent;
/// Who may come over HTTP, and with how much.
mod http;
/// What goes over the streams, line by line.
mod lines;
/// Clients that were not written here: the inspector, and two of Python.
mod others;
/// Tools that have nothing to do with their client.
mod plain;
/// The program `tool-mcp`.
#[cfg(feature = "cli")]
mod program;
/// Lists, calls, results, progress, cancellation, changes.
mod protocol;
/// The published conformance suite.
mod suite;
