//! Our tools for every MCP client, every MCP server's tools as ours.
//!
//! A [`Server`] offers the tools of a dispatcher to any client of the Model Context Protocol, over the standard streams
//! or over HTTP. [`Servers`] are those of others: their tools become entries of a registry that nothing can tell from
//! local ones. What is spoken is the work of [`rmcp`], the official SDK; what a call goes through is the dispatcher's:
//! checks, policy, consent, limits, journal and tracing are those of any other call.
//!
//! The program `tool-mcp` serves the built-in tools: `cargo install --path tool-mcp --features cli` puts it where clients
//! find it, and this, in a client's configuration, has it started for a folder. Write the path out: a client starts it
//! wherever it likes.
//!
//! ```json
//! {"mcpServers": {"files": {"command": "tool-mcp", "args": ["--files", "/path/to/workspace"]}}}
//! ```
//!
//! # Features
//! - `cli`: the program.
//! - `auth`: OAuth, for servers behind a URL that want somebody to log in.

mod lines;
mod pins;
mod remote;
mod server;

pub use pins::{ApproveError, Held, PinError, Warning};
#[cfg(feature = "auth")]
pub use remote::OAuth;
pub use remote::{
    ConfigError, ConnectError, Elicitation, Generation, Reloaded, Sampling, ServerConfig, ServerState, ServerStatus,
    Servers, ServersBuilder, ToolStatus,
};
pub use rmcp;
pub use server::{
    Client, ClientError, Denied, HttpConfig, Nothing, Principal, ServeError, Server, WeakToken, serve_stdio,
};
