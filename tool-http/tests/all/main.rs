//! The router as its clients see it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Tools to call, requests to send, events to read.
mod support;

/// What is listed, and in which forms.
mod catalogue;

/// Calls and their statuses.
mod calls;

/// Requests that are repeated with an `Idempotency-Key`.
mod idempotency;

/// Calls that report while they run, and clients that go away.
mod streams;

/// Calls that wait for consent.
mod pending;

/// What happens to calls, for those who watch.
mod events;

/// What is on record.
mod journal;

/// Who is served, and who is not.
mod hostile;

/// What an application asks of requests itself.
mod checks;

/// How often requests are served.
mod rates;

/// The description, held against what is served.
mod openapi;
