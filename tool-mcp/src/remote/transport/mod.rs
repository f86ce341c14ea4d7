//! How messages come and go. Whatever a server sends, no more than a message of the allowed length is kept of it.

#[cfg(feature = "auth")]
mod authorized;
mod child;
mod client;
mod handshake;
mod http;
mod last_words;
mod read;
mod refusal;
mod resume;
mod sse;
mod streams;
mod unasked;
mod wire;

pub(super) use child::start;
pub(super) use handshake::NEWEST;
pub(super) use http::connect as connect_http;
pub(super) use last_words::LastWords;
pub(crate) use streams::Connect;
pub(super) use streams::streams;
pub(super) use wire::{Heard, LOST, Listener, Sent, TOO_LONG, UNREADABLE, Wire};
