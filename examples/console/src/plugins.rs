//! The MCP servers of the console.

use tool_mcp::{ConfigFileError, ConnectError, PluginArguments, RemoteServers};
use tool_runtime::Registry;

/// Connects to the servers of the command line and registers their tools. Returns `None` if there are none.
pub(crate) async fn connect(
    plugins: &PluginArguments,
    registry: &Registry,
) -> Result<Option<RemoteServers>, PluginError> {
    match plugins.servers().map_err(PluginError::File)? {
        Some(servers) => Ok(Some(servers.connect(registry).await.map_err(PluginError::Connect)?)),
        None => Ok(None),
    }
}

/// Error of connecting to the MCP servers.
#[derive(Debug)]
pub enum PluginError {
    /// A file cannot be read or is invalid.
    File(ConfigFileError),
    /// The configuration is contradictory.
    Connect(ConnectError),
}

impl std::fmt::Display for PluginError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Connect(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PluginError {}
