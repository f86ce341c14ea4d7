/// Approval by the client's user.
mod approval;
/// An in-process client of either generation.
mod connected;
/// HTTP access checks and limits.
mod http;
/// `tool-mcp install`.
#[cfg(feature = "cli")]
mod install;
/// The line protocol.
mod lines;
/// Tools that do not involve their client.
mod plain;
/// The program `tool-mcp`.
#[cfg(feature = "cli")]
mod program;
/// Lists, calls, results, progress, cancellation, changes.
mod protocol;
/// Published clients: the inspector, and two in Python.
mod published_clients;
/// The published conformance suite.
mod suite;
