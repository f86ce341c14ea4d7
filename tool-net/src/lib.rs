//! Network rules that several crates need and that must not differ between them.
//!
//! - [`tls`]: the TLS configuration of every HTTP client (feature `tls`).
//! - [`RequestSource`] and [`is_loopback_host`]: the rule that decides whether a request comes from this machine.
//! - [`retry_after`]: parses the `Retry-After` header.

mod loopback;
mod retry_after;
#[cfg(feature = "tls")]
pub mod tls;

pub use loopback::{RequestSource, is_loopback_host};
pub use retry_after::retry_after;
