//! Annotated functions and services, in a crate of their own so that the linker has to find their tools.

pub mod functions;
pub mod injected;
pub mod services;
pub mod types;

/// The manifest that the build script wrote.
pub const WRITTEN: &str = include_str!(concat!(env!("OUT_DIR"), "/tools_calls.json"));
