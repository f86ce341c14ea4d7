//! The built-in tools, called as a model calls them.

#[cfg(feature = "web")]
mod web;
