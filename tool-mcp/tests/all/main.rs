//! Integration tests.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

/// Published packages.
mod published;
/// The MCP server.
mod server;

/// The published `server-everything`, over both transports.
mod everything;
/// HTTP servers that lose their sessions.
mod expired_sessions;
/// Scripted HTTP servers.
mod hosted;
/// Hostile servers.
mod hostile;
/// Responses over the length limit.
mod huge;
/// Recorded log lines.
mod log;
/// Servers that require a login.
#[cfg(feature = "auth")]
mod login;
/// Lost connections and unavailable servers.
mod lost;
mod names;
/// HTTP servers that refuse requests or break off.
mod over_http;
mod pins;
mod plugins;
/// The published filesystem server and conformance suite.
mod published_servers;
mod remote;
/// Scripted servers over streams.
mod scripted;
/// Programs that start slowly.
#[cfg(unix)]
mod slow;
/// Results that violate their output schemas.
mod structured;
