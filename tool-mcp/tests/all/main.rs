//! What the crate does, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Programs and packages that others have published.
mod published;
/// Our tools for MCP clients.
mod server;
