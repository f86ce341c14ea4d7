//! What the crate does, seen from outside.

/// Programs and packages that others have published.
mod published;
/// Our tools for MCP clients.
mod server;
