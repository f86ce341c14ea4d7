//! Command line arguments.

use std::path::PathBuf;

use clap::Parser;
use tool_mcp::PluginArguments;
use tool_runtime::confirm::PolicyArguments;
use tool_runtime::diagnostics::LogArguments;

/// A chat with a model that has tools on a directory.
///
/// `TOOL_MODEL=provider/model` selects the model. Providers are openai, anthropic, gemini, openrouter and ollama, each
/// with its API key in the environment (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`, `OPENROUTER_API_KEY`)
/// and, optionally, its address (`OPENAI_BASE_URL` and so on). Without it, no model is called, and only what you have
/// the tools fetch, search or run leaves this machine.
///
/// Errors are logged to standard error, which is the terminal: send it to a file before you select more events with
/// `RUST_LOG`, as in `RUST_LOG=info chat 2>chat.log`.
#[derive(Debug, Parser)]
#[command(name = "chat")]
pub struct Arguments {
    /// The directory that the tools work in.
    #[arg(default_value = ".")]
    pub folder: PathBuf,
    /// Start a new conversation instead of continuing the newest one of this directory.
    #[arg(long)]
    pub new: bool,
    /// Offer the tool that deletes files.
    #[arg(long)]
    pub allow_delete: bool,
    /// Run commands without network.
    #[arg(long)]
    pub no_network: bool,
    /// When to ask for approval.
    #[command(flatten)]
    pub policy: PolicyArguments,
    /// More tools.
    #[command(flatten)]
    pub plugins: PluginArguments,
    /// Where conversations are stored.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// The log.
    #[command(flatten)]
    pub log: LogArguments,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Arguments, String> {
        Arguments::try_parse_from(["chat"].iter().chain(arguments)).map_err(|error| error.to_string())
    }

    #[test]
    fn parses_the_policy_and_the_plugins() {
        let arguments = parse(&["--policy", "confirm-all", "--dry-run", "--mcp", "a.json", "--plugins", "p", "."]);
        let Arguments { policy, plugins, .. } = arguments.unwrap();
        assert_eq!((policy.policy.to_string().as_str(), policy.dry_run), ("confirm-all", true));
        assert_eq!((plugins.mcp, plugins.plugins), (vec![PathBuf::from("a.json")], vec![PathBuf::from("p")]));
        let policy = parse(&[]).unwrap().policy;
        assert_eq!((policy.policy.to_string().as_str(), policy.dry_run), ("confirm-sensitive", false));
    }

    #[test]
    fn rejects_wrong_values() {
        assert!(parse(&["--policy", "confirm"]).unwrap_err().contains("unknown policy `confirm`"));
        assert!(parse(&["--mcp"]).unwrap_err().contains("a value is required"));
        assert!(parse(&["--plugins"]).unwrap_err().contains("a value is required"));
    }
}
