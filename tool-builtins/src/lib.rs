#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "files", feature = "web"))]
mod bytes;
#[cfg(any(feature = "exec", feature = "files", feature = "web"))]
mod count;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub mod exec;
#[cfg(feature = "files")]
pub mod files;
pub mod message;
pub mod spawn;
#[cfg(feature = "web")]
pub mod web;
