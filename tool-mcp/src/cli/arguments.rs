//! Command-line arguments.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use tool_runtime::confirm::PolicyArguments;
use tool_runtime::diagnostics::LogArguments;

use super::install::InstallArguments;

/// Serves the built-in tools to MCP clients, over the standard streams or over HTTP.
///
/// `tool-mcp install cursor -- tool-mcp --files /path/to/workspace` adds it to the configuration of a client. Calls that need approval are shown to the user by the client; if the client does not support
/// that, they are refused.
///
/// Calls, warnings and errors are logged to standard error (level `info`); `RUST_LOG` selects other events.
#[derive(Debug, Parser)]
#[command(name = "tool-mcp", version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ServeArguments {
    /// Another task than serving.
    #[command(subcommand)]
    pub command: Option<ToolMcpCommand>,
    /// Serve tools that read, write and search files in this directory.
    #[arg(long, value_name = "DIR", required_unless_present_any = ["exec", "web"])]
    pub files: Option<PathBuf>,
    /// Also serve the tool that deletes files.
    #[arg(long, requires = "files")]
    pub allow_delete: bool,
    /// Serve a tool that runs commands in this directory.
    #[arg(long, value_name = "DIR")]
    pub exec: Option<PathBuf>,
    /// Run commands without network access.
    #[arg(long, requires = "exec")]
    pub no_network: bool,
    /// Serve tools that fetch pages and search the web.
    #[arg(long)]
    pub web: bool,
    /// When to ask for approval.
    #[command(flatten)]
    pub policy: PolicyArguments,
    /// Serve over HTTP on this port, at `/mcp`; 0 picks a free port. If TOOL_MCP_TOKEN is set, clients must send it as a
    /// bearer token; it needs at least 16 characters.
    #[arg(long, value_name = "PORT")]
    pub http: Option<u16>,
    /// Listen on this address instead of 127.0.0.1.
    #[arg(long, value_name = "ADDRESS", requires = "http")]
    pub address: Option<IpAddr>,
    /// Also accept requests for this host name.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub host: Vec<String>,
    /// Also accept browser requests of this origin, such as `https://app.example.com:443`.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub origin: Vec<String>,
    /// Print the manifest of the tools and exit.
    #[arg(long)]
    pub manifest: bool,
    /// The log.
    #[command(flatten)]
    pub log: LogArguments,
}

/// The tasks besides serving.
#[derive(Debug, Subcommand)]
pub enum ToolMcpCommand {
    /// Adds a server to the configuration of an MCP client.
    Install(InstallArguments),
}
