//! What `tool-mcp` does, against servers and clients of others.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

// Servers that are published by others.
mod node;
mod published;
// Servers that are written for a test.
mod hostile;
mod pins;
mod plugins;
mod remote;
mod scripted;
