//! What the crate does, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Programs and packages that others have published.
mod published;
/// Our tools for MCP clients.
mod server;

/// A published server with a tool for everything, over both transports.
mod everything;
/// RemoteServers behind a URL that forget who we are.
mod forgotten;
/// A server behind a URL that says what a test wants.
mod hosted;
/// RemoteServers that do harm.
mod hostile;
/// Answers that are far too long.
mod huge;
/// RemoteServers that want to know who calls.
#[cfg(feature = "auth")]
mod login;
mod lost;
mod names;
/// RemoteServers behind a URL that refuse or break off.
mod over_http;
mod pins;
mod plugins;
mod remote;
/// A server that says what a test wants.
mod scripted;
/// The tools of servers that others have published.
mod servers_of_others;
/// Programs that take long to start.
#[cfg(unix)]
mod slow;
/// Answers that are not what their tools have promised.
mod structured;
