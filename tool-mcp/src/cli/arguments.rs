//! What the command line says.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Parser;
use tool_runtime::Policy;

/// Serves the built-in tools to MCP clients, over the standard streams or over HTTP.
///
/// A client starts it with, for example, `{"mcpServers": {"files": {"command": "tool-mcp", "args": ["--files",
/// "/path/to/workspace"]}}}`. What needs consent is asked of the user through the client; one that cannot ask is told
/// that the call was refused.
#[derive(Debug, Parser)]
#[command(name = "tool-mcp", version)]
pub struct Arguments {
    /// Serve tools that read, write and search files in this folder.
    #[arg(long, value_name = "DIR", required_unless_present_any = ["exec", "web"])]
    pub files: Option<PathBuf>,
    /// Offer to delete files, too.
    #[arg(long, requires = "files")]
    pub allow_delete: bool,
    /// Serve a tool that runs commands in this folder.
    #[arg(long, value_name = "DIR")]
    pub exec: Option<PathBuf>,
    /// Run commands without network.
    #[arg(long, requires = "exec")]
    pub no_network: bool,
    /// Serve tools that fetch pages and search the web.
    #[arg(long)]
    pub web: bool,
    /// What the user is asked about: `yolo` nothing, `confirm-sensitive`, or `confirm-all`.
    #[arg(long, value_name = "POLICY", default_value = "confirm-sensitive")]
    pub policy: Policy,
    /// Only say what calls would do.
    #[arg(long)]
    pub dry_run: bool,
    /// Serve over HTTP at this port, at `/mcp`; 0 is any that is free. With TOOL_MCP_TOKEN in the environment clients
    /// have to bring that bearer token, of at least 16 characters.
    #[arg(long, value_name = "PORT")]
    pub http: Option<u16>,
    /// Listen at this address instead of 127.0.0.1.
    #[arg(long, value_name = "ADDRESS", requires = "http")]
    pub address: Option<IpAddr>,
    /// Answer requests for this host, too: the name by which clients reach the server.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub host: Vec<String>,
    /// Answer pages of this origin, too: `https://app.example.com:443`.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub origin: Vec<String>,
    /// Write the manifest of the tools and stop.
    #[arg(long)]
    pub manifest: bool,
}
