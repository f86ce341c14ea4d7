//! `tool-gen init`

use std::path::PathBuf;

use clap::Args;

use super::arguments::OutputFormat;
use super::exit::{ExitStatus, Result};
use super::packages::cargo_toml;
use super::starter::{SourceChoice, StarterPlan};
use super::terminal::{GREEN, print_status, styled};

/// Add tools to an existing package
///
/// Adds what is missing: dependencies in Cargo.toml, `src/tools.rs` with a service, a dispatcher and tests, its `mod` item,
/// a build script that embeds the manifest, and the manifest to commit. Existing files are not overwritten; a second run changes nothing.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct InitCommand {
    /// Path to Cargo.toml; by default the nearest one
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,

    #[command(flatten)]
    source: SourceChoice,
}

const EXAMPLES: &str = "\
Examples:
  cargo tool-gen init
  cargo tool-gen init --manifest-path services/Cargo.toml

With `--format json`:
  {\"written\": [PATH], \"next\": [TEXT]}";

impl InitCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        let manifest = cargo_toml(self.manifest_path.as_deref())?;
        let mut plan = StarterPlan::new(&manifest, &self.source)?;
        if plan.is_empty() {
            print_status(format_args!("{} the package already has tools", styled(GREEN, "✓")));
        } else {
            plan = plan
                .next("annotate services of yours: `tool-gen adopt` lists the methods that fit")
                .next("see warnings: `tracing_subscriber::fmt().with_writer(std::io::stderr).init();` in `main`")
                .next("call a tool: `tools::dispatcher()?.call(ToolCall::from_text(\"notes.add\", arguments)).await`")
                .next("serve MCP clients: `tool_mcp::serve_stdio(tools::dispatcher()?).await?`")
                .next("cargo test");
        }
        plan.write(format)?;
        Ok(ExitStatus::Fine)
    }
}
