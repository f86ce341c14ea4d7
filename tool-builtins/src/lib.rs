//! The tools that every agent wants, as services that an application offers with one line each.

#[cfg(feature = "exec")]
pub mod exec;
#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "web")]
pub mod web;
