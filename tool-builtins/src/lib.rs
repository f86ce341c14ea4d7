//! The tools that every agent wants, as services that an application offers with one line each.

#[cfg(all(feature = "exec", target_os = "linux"))]
pub mod exec;
#[cfg(feature = "files")]
pub mod files;
pub mod message;
pub mod spawn;
#[cfg(feature = "web")]
pub mod web;
