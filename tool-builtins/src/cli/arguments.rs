//! What the command line says.

use std::path::PathBuf;

use clap::Parser;
use tool_runtime::Policy;

/// Runs the built-in tools over a workspace.
///
/// Reads one call per line, `{"name": "run_command", "arguments": {"command": "ls"}, "id": 1}`, and writes one result
/// per line, `{"id": 1, "success": true, "output": "..", "error": null, "metadata": {}}`. A line that is no call has a
/// result that says so. Questions are asked on the terminal; where there is none, the call is refused.
#[derive(Debug, Parser)]
#[command(name = "tool-builtins", version)]
pub struct Arguments {
    /// The folder that the tools work in.
    #[arg(long, value_name = "DIR")]
    pub workspace: PathBuf,
    /// What the user is asked about: `yolo` nothing, `confirm-sensitive`, or `confirm-all`.
    #[arg(long, value_name = "POLICY", default_value = "confirm-sensitive")]
    pub policy: Policy,
    /// Only say what calls would do.
    #[arg(long)]
    pub dry_run: bool,
    /// Offer to delete files, too.
    #[cfg(feature = "files")]
    #[arg(long)]
    pub allow_delete: bool,
    /// Run only this program, and others that are named like this; no shell unless `sh` is one of them.
    #[cfg(feature = "exec")]
    #[arg(long, value_name = "PROGRAM")]
    pub allow_program: Vec<String>,
    /// Do not run this program.
    #[cfg(feature = "exec")]
    #[arg(long, value_name = "PROGRAM")]
    pub deny_program: Vec<String>,
    /// Let commands write here too.
    #[cfg(feature = "exec")]
    #[arg(long, value_name = "PATH")]
    pub allow_write: Vec<PathBuf>,
    /// Run commands without network.
    #[cfg(feature = "exec")]
    #[arg(long)]
    pub no_network: bool,
    /// Let web tools reach this host, wherever it is: `localhost:3000`, `10.0.0.5`.
    #[cfg(feature = "web")]
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
    /// Write the manifest of the tools and stop.
    #[arg(long)]
    pub manifest: bool,
}
