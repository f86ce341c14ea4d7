//! The agent against what stands in for its providers.

mod server;
