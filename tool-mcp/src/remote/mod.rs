//! Every server's tools as ours.

mod backoff;
mod builder;
mod call;
mod config;
mod connection;
mod content;
mod expand;
mod failure;
mod file;
mod link;
mod listed;
mod names;
#[cfg(feature = "auth")]
mod oauth;
mod offer;
mod plugins;
mod promise;
mod reached;
mod requests;
mod server;
mod servers;
mod sources;
mod status;
mod subscription;
mod tool;
mod transport;

pub use builder::ServersBuilder;
pub use config::{Generation, ServerConfig};
pub use file::ConfigError;
#[cfg(feature = "auth")]
pub use oauth::OAuth;
pub use requests::{Elicitation, Sampling};
pub use servers::{ConnectError, Reloaded, Servers};
pub use status::{ServerState, ServerStatus, ToolStatus};
