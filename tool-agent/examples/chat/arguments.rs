//! Command line arguments.

use std::path::PathBuf;

use clap::Parser;

/// A chat with a model that has tools on a directory.
///
/// `TOOL_MODEL=provider/model` selects the model. Providers are openai, anthropic, gemini, openrouter and ollama, each
/// with its API key in the environment (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`, `OPENROUTER_API_KEY`)
/// and, optionally, its address (`OPENAI_BASE_URL` and so on). Without it, no model is called, and only what you have
/// the tools fetch, search or run leaves this machine.
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
    /// Where conversations are stored.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}
