//! Command-line arguments of the remote servers.

use std::path::PathBuf;

use clap::Args;

use super::builder::RemoteServersBuilder;
use super::config_file::ConfigFileError;
use super::plugins;
use super::servers::RemoteServers;

/// The arguments `--mcp` and `--plugins` of a program that uses clap.
///
/// ```no_run
/// use clap::Parser;
/// use tool_mcp::PluginArguments;
/// use tool_runtime::Dispatcher;
///
/// #[derive(Parser)]
/// struct Arguments {
///     #[command(flatten)]
///     plugins: PluginArguments,
/// }
///
/// # async fn example(tools: Dispatcher) -> Result<(), Box<dyn std::error::Error>> {
/// let servers = match Arguments::parse().plugins.servers()? {
///     Some(servers) => Some(servers.connect(&tools.registry()).await?),
///     None => None,
/// };
/// # drop(servers);
/// # Ok(())
/// # }
/// ```
#[derive(Args, Clone, Debug, Default)]
pub struct PluginArguments {
    /// Offer the tools of the MCP servers in this file, in the format `{"mcpServers": {..}}`. Can be repeated
    #[arg(long, value_name = "FILE")]
    pub mcp: Vec<PathBuf>,
    /// Offer the tools of the MCP servers in this directory: executables and `.json` files. Can be repeated. The default
    /// is the directory in `TOOL_PLUGINS_DIR`, if it is set
    #[arg(long, value_name = "DIR")]
    pub plugins: Vec<PathBuf>,
}

impl PluginArguments {
    /// Returns a builder with the servers of the files and directories. Returns `None` if there are neither, and
    /// `TOOL_PLUGINS_DIR` is not set.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is invalid.
    pub fn servers(&self) -> Result<Option<RemoteServersBuilder>, ConfigFileError> {
        let directories = self.directories();
        if self.mcp.is_empty() && directories.is_empty() {
            return Ok(None);
        }
        let servers = self.mcp.iter().try_fold(RemoteServers::builder(), RemoteServersBuilder::config_file)?;
        Ok(Some(directories.into_iter().fold(servers, RemoteServersBuilder::plugins)))
    }

    /// Returns the files and directories that [`servers`](Self::servers) reads. The programs that they name are started, so
    /// a model must not be able to change them.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.mcp.iter().cloned().chain(self.directories()).collect()
    }

    /// Returns the plugin directories of the command line, or else the one of the environment.
    fn directories(&self) -> Vec<PathBuf> {
        match self.plugins.is_empty() {
            true => plugins::from_env().into_iter().collect(),
            false => self.plugins.clone(),
        }
    }
}
