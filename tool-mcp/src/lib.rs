//! Our tools for every MCP client, every MCP server's tools as ours.

mod pins;
mod remote;

pub use pins::{Held, PinError, Warning};
pub use remote::{
    ConfigError, ConnectError, Elicitation, Generation, Reloaded, Sampling, ServerConfig, ServerState, ServerStatus,
    Servers, ServersBuilder, ToolStatus,
};
