//! MCP server and client for [`tool_runtime`].
//!
//! An [`McpServer`] exposes the tools of a dispatcher to clients of the Model Context Protocol, over the standard streams
//! or over HTTP. [`RemoteServers`] connects to other MCP servers and registers their tools, which then behave like local
//! ones. The protocol is implemented by [`rmcp`], the official SDK. Every call goes through the dispatcher, so validation,
//! policy, approval, limits, journal and tracing apply as usual.
//!
//! The program `tool-mcp` serves the built-in tools. Install it with `cargo install --path tool-mcp --features cli` and add
//! it to the configuration of an MCP client, as any other server:
//!
//! ```sh
//! tool-mcp install claude-desktop --name files -- tool-mcp --files /path/to/workspace
//! ```
//!
//! # Features
//! - `cli`: the program `tool-mcp`.
//! - `auth`: OAuth logins for remote servers over HTTP.

mod lines;
mod pins;
mod remote;
mod server;

pub use pins::{ApproveError, HoldReason, PinError, ToolWarning};
#[cfg(feature = "auth")]
pub use remote::OAuth;
pub use remote::{
    ConfigFileError, ConnectError, ElicitationRequest, ProtocolGeneration, ReloadReport, RemoteServers,
    RemoteServersBuilder, SamplingRequest, ServerConfig, ServerState, ServerStatus, ToolStatus,
};
pub use rmcp;
pub use server::{
    AccessDenied, ClientError, HttpConfig, McpClient, McpServer, Principal, ServeError, ToolsOnly, WeakBearerToken,
    serve_stdio,
};
