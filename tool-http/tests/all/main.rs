//! Tests of the router through HTTP requests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Test tools, requests and event readers.
mod support;

/// Lists of tools and dialects.
mod catalogue;

/// Calls and their statuses.
mod calls;

/// Requests repeated with an `Idempotency-Key`.
mod idempotency;

/// Streamed calls, and clients that disconnect.
mod streams;

/// Pending calls.
mod pending;

/// The event stream.
mod events;

/// The journal.
mod journal;

/// Access control.
mod hostile;

/// Checks of the application.
mod checks;

/// Rate limits.
mod rates;

/// The OpenAPI document.
mod openapi;
