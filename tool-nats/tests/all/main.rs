//! With a real `nats-server`, which is looked for in the path. Where there is none the tests say that they were skipped,
//! unless `NATS_SERVER=required`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

// Calls by request and reply: what travels with them, what comes back.
mod calls;
// Who one is, and what one may do, by credentials files.
mod credentials;
// Which tools there are, as workers come, go and change.
mod discovery;
// A worker is killed every second.
mod killed;
// Many calls, and no more memory.
mod memory;
// The network is cut, and slow.
mod network;
// Who may serve what.
mod permissions;
// Calls that must not be lost.
mod queue;
// What becomes of a job when it is submitted twice, its worker crashes or the server is away.
mod queue_trouble;
// How long messages are.
mod scale;
mod support;
