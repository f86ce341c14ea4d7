//! The agent against what stands in for its providers.

mod providers;
mod server;
