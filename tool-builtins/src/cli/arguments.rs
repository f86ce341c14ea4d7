//! Command-line arguments.

use std::path::PathBuf;

use clap::Parser;
use tool_runtime::confirm::PolicyArguments;
use tool_runtime::diagnostics::LogArguments;

/// Runs the built-in tools over a workspace.
///
/// Reads one call per line, `{"name": "run_command", "arguments": {"command": "ls"}, "id": 1}`, and writes one result
/// per line, `{"id": 1, "success": true, "output": "..", "error": null, "metadata": {}}`. A line that is not a valid
/// call gets a result with an error. Approval is asked for on the terminal; without one, the call is rejected.
///
/// Warnings are logged to standard error; `RUST_LOG` selects other events.
#[derive(Debug, Parser)]
#[command(name = "tool-builtins", version)]
pub struct BuiltinsArguments {
    /// Directory that the tools work in
    #[arg(long, value_name = "DIR")]
    pub workspace: PathBuf,
    /// When to ask for approval
    #[command(flatten)]
    pub policy: PolicyArguments,
    /// Also offer the tool that deletes files
    #[cfg(feature = "files")]
    #[arg(long)]
    pub allow_delete: bool,
    /// Leave out names that begin with a dot, except `.gitignore`, when a directory is listed
    #[cfg(feature = "files")]
    #[arg(long)]
    pub hide_dot_files: bool,
    /// Run only this program. Can be repeated. Disables the shell unless `sh` is listed
    #[cfg(feature = "exec")]
    #[arg(long, value_name = "PROGRAM")]
    pub allow_program: Vec<String>,
    /// Never run this program. Can be repeated
    #[cfg(feature = "exec")]
    #[arg(long, value_name = "PROGRAM")]
    pub deny_program: Vec<String>,
    /// Also let commands write to this path. Can be repeated
    #[cfg(feature = "exec")]
    #[arg(long, value_name = "PATH")]
    pub allow_write: Vec<PathBuf>,
    /// Run commands without network access
    #[cfg(feature = "exec")]
    #[arg(long)]
    pub no_network: bool,
    /// Let web tools reach this host even if it is not public, such as `localhost:3000` or `10.0.0.5`. Can be repeated
    #[cfg(feature = "web")]
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
    /// Number of search results if the model does not ask for another, from 1 to 20
    #[cfg(feature = "web")]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..=20))]
    pub max_results: Option<u8>,
    /// Print the manifest of the tools and exit
    #[arg(long)]
    pub manifest: bool,
    /// The log
    #[command(flatten)]
    pub log: LogArguments,
}
