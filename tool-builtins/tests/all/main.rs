//! The built-in tools, called as a model calls them.

// What a workspace lets through, and what it does not.
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "web")]
mod web;
