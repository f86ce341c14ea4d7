//! The built-in tools, as an application offers them.

// What a workspace lets through, and what it does not.
#[cfg(feature = "files")]
mod files;
