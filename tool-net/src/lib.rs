#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod loopback;
mod retry_after;
#[cfg(feature = "tls")]
pub mod tls;

pub use loopback::{RequestSource, is_loopback_host};
pub use retry_after::retry_after;
