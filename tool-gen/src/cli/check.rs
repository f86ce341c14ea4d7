//! `tool-gen check`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use tool_model::Manifest;
use tool_model::compatibility::{self, Change};

use super::arguments::{OutputFormat, PackageChoice};
use super::changes;
use super::exit::{CommandFailure, ExitStatus, FailureContext, Result};
use super::packages::PackageSelection;
use super::report::{self, JsonDiagnostic};
use super::scanning::LoadedTools;
use super::terminal::{GREEN, RED, count, display_path, print, print_json, print_status, styled};

/// Fail if the manifest is stale, and show the differences
///
/// Exits with 1 if the file differs from the output of `write`, or is missing.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct CheckCommand {
    /// Check this file instead of tools_calls.json beside Cargo.toml
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Ignore changes to descriptions and instructions, which `write --keep-words` keeps
    #[arg(long)]
    keep_words: bool,

    #[command(flatten)]
    choice: PackageChoice,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen check                     in CI
  tool-gen check --workspace --all-features

With `--format json`:
  {\"file\": PATH, \"fresh\": BOOL, \"tools\": COUNT, \"changes\": [CHANGE], \"diagnostics\": [DIAGNOSTIC]}
  as in `tool-gen write --help`";

/// The result for `--format json`.
#[derive(Serialize)]
struct JsonChecked<'a> {
    file: String,
    fresh: bool,
    tools: usize,
    changes: &'a [Change],
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

impl CheckCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        let selection = PackageSelection::resolve(&self.choice)?;
        let file = self.output.clone().unwrap_or_else(|| selection.manifest.clone());
        let tools = LoadedTools::scan(&selection, format, "the manifest was not checked")?.with_advice(format);
        let committed = match std::fs::read_to_string(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            // Git may have converted the line endings for Windows.
            read => Some(read.context(|| format!("read {}", file.display()))?.replace("\r\n", "\n")),
        };
        let known = committed.as_deref().map(Manifest::from_json).transpose().map_err(|error| {
            CommandFailure::new(format!("cannot read {}: {error}", display_path(&file)))
                .help("`tool-gen write` replaces it")
        })?;
        let known = known.unwrap_or_default();
        let reworded = tools.manifest.with_words_of(&known);
        let manifest = if self.keep_words { &reworded } else { &tools.manifest };
        let expected = manifest.to_json();
        let fresh = committed.as_deref() == Some(&*expected);
        let found = compatibility::changes(&known, manifest);
        match format {
            OutputFormat::Json => print_json(&JsonChecked {
                file: file.display().to_string(),
                fresh,
                tools: tools.manifest.len(),
                changes: &found,
                diagnostics: report::json(&tools.diagnostics),
            })?,
            OutputFormat::Text if fresh => {
                let tools = count(tools.manifest.len(), "tool");
                print_status(format_args!("{} {} is up to date, {tools}", styled(GREEN, "✓"), display_path(&file)));
            }
            OutputFormat::Text => {
                let name = display_path(&file);
                if let Some(committed) = &committed {
                    print(&changes::unified_diff(committed, &expected, [&name, "sources"]))?;
                    print("\n")?;
                    print(&changes::render(&found))?;
                }
                let remedy = match &committed {
                    None => "does not exist; run `tool-gen write`",
                    Some(_) if reworded == known && !self.keep_words => {
                        "has other descriptions; run `tool-gen write`, or keep them with `--keep-words`"
                    }
                    Some(_) => "is stale; run `tool-gen write`",
                };
                let space = if committed.is_some() { "\n" } else { "" };
                print_status(format_args!("{space}{} {name} {remedy}", styled(RED, "✗")));
            }
        }
        Ok(if fresh { ExitStatus::Fine } else { ExitStatus::Objection })
    }
}
