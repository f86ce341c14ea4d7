//! Tests with a real `nats-server` from `PATH`. If there is none, the tests are skipped unless `NATS_SERVER=required`.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

// Direct calls: context, progress, results.
mod calls;
// Users and permissions in credentials files.
mod credentials;
// Registration of the tools of workers.
mod discovery;
// A worker is killed every second.
mod kills;
// Memory use after many calls.
mod memory;
// Interrupted and slow networks.
mod network;
// Permissions in the server's configuration.
mod permissions;
// The work queue.
mod queue;
// Jobs that are submitted twice, whose worker crashes, or whose server is down.
mod queue_failures;
// Message sizes.
mod scale;
mod support;
