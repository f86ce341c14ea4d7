#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod lines;
mod pins;
mod remote;
mod server;

pub use pins::{ApproveError, HoldReason, PinError, ToolWarning};
#[cfg(feature = "auth")]
pub use remote::OAuth;
#[cfg(feature = "clap")]
pub use remote::PluginArguments;
pub use remote::{
    ConfigFileError, ConnectError, ElicitationRequest, ProtocolGeneration, ReloadReport, RemoteServers,
    RemoteServersBuilder, SamplingRequest, ServerConfig, ServerState, ServerStatus, ToolStatus,
};
pub use rmcp;
pub use server::{
    AccessDenied, ClientError, HttpConfig, McpClient, McpServer, Principal, ServeError, ToolsOnly, WeakBearerToken,
    serve_stdio,
};
