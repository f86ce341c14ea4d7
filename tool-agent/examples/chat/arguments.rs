//! What the command line says.

use std::path::PathBuf;

use clap::Parser;

/// A chat with a model that has tools on a folder.
///
/// `TOOL_MODEL=provider/model` says which model: openai, anthropic, gemini, openrouter or ollama, each with its key in
/// the environment (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`, `OPENROUTER_API_KEY`) and, where it is
/// not the usual one, its address (`OPENAI_BASE_URL` and so on). Without it, no model is
/// asked, and what leaves this machine is what you have the tools fetch, search or run.
#[derive(Debug, Parser)]
#[command(name = "chat")]
pub struct Arguments {
    /// The folder that the tools work in.
    #[arg(default_value = ".")]
    pub folder: PathBuf,
    /// Begin a new conversation. Otherwise the newest one of this folder goes on, unless another chat has it open.
    #[arg(long)]
    pub new: bool,
    /// Offer to delete files, too.
    #[arg(long)]
    pub allow_delete: bool,
    /// Run commands without network.
    #[arg(long)]
    pub no_network: bool,
    /// Where conversations are kept.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}
