//! `tool-gen new`

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use super::arguments::OutputFormat;
use super::exit::{CommandFailure, ExitStatus, FailureContext, Result};
use super::packages::cargo_toml;
use super::starter::{MAIN, SourceChoice, StarterPlan, WORKFLOW};
use super::terminal::display_path;

/// Create a package with tools
///
/// The package has a service with three tools, a build script that embeds their manifest, the manifest to commit, a
/// dispatcher, tests, and a program that lists and calls tools or serves them to MCP clients. Runs `cargo new` first, so names, workspaces and
/// version control are handled as Cargo does.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct NewCommand {
    /// Directory of the package, which must not exist
    #[arg(value_name = "PATH")]
    directory: PathBuf,

    /// Name of the package; by default that of the directory
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Add a workflow for GitHub Actions that runs the tests
    #[arg(long)]
    ci: bool,

    #[command(flatten)]
    source: SourceChoice,
}

const EXAMPLES: &str = "\
Examples:
  cargo tool-gen new my-tools
  cargo tool-gen new my-tools --path ../tool-runtime-checkout

With `--format json`:
  {\"written\": [PATH], \"next\": [TEXT]}";

impl NewCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        // A wrong `--path` must not leave a package behind.
        self.source.check()?;
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["new", "--quiet", "--bin"]);
        if let Some(name) = &self.name {
            cargo.args(["--name", name]);
        }
        let output = cargo.arg("--").arg(&self.directory).output().context(|| "run `cargo new`".to_owned())?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(CommandFailure::new(message.trim().trim_start_matches("error: ")));
        }
        let manifest = cargo_toml(Some(&self.directory))?;
        let main = manifest.with_file_name("src").join("main.rs");
        let directory = manifest.parent().map(display_path).unwrap_or_default();
        let mut plan = StarterPlan::new(&manifest, &self.source)?.with_file(main, MAIN);
        if self.ci {
            plan = plan.with_file(manifest.with_file_name(".github").join("workflows").join("ci.yml"), WORKFLOW);
        }
        plan.next(format!("cd {directory} && cargo test"))
            .next("cargo run -- notes.add '{\"text\": \"buy milk\"}'")
            .next("cargo run -- mcp")
            .write(format)?;
        Ok(ExitStatus::Fine)
    }
}
