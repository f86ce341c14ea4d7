//! MCP client: registers the tools of remote servers.

mod backoff;
mod builder;
mod call;
mod config_file;
mod connection;
mod content;
mod endpoint;
mod failure;
mod link;
mod mcp_tool;
mod names;
#[cfg(feature = "auth")]
mod oauth;
mod output_check;
#[cfg(feature = "clap")]
mod plugin_arguments;
mod plugins;
mod registered_tools;
mod requests;
mod server;
mod server_config;
mod servers;
mod sources;
mod status;
mod subscription;
mod transport;
mod variables;

pub use builder::RemoteServersBuilder;
pub use config_file::ConfigFileError;
#[cfg(feature = "auth")]
pub use oauth::OAuth;
#[cfg(feature = "clap")]
pub use plugin_arguments::PluginArguments;
pub use requests::{ElicitationRequest, SamplingRequest};
pub use server_config::{ProtocolGeneration, ServerConfig};
pub use servers::{ConnectError, ReloadReport, RemoteServers};
pub use status::{ServerState, ServerStatus, ToolStatus};
