//! `tool-gen check`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use tool_model::Manifest;
use tool_model::compatibility::{self, Change};

use super::arguments::{Format, PackageChoice};
use super::changes;
use super::exit::{Doing, Exit, Result};
use super::packages::Selection;
use super::report::{self, JsonDiagnostic};
use super::scanning::Tools;
use super::terminal::{GREEN, RED, count, print, print_json, say, shown, styled};

/// Fail if the manifest is stale, and say how
///
/// Exits with 1 if the file differs from what `write` would write, or is missing.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct Check {
    /// Check this file instead of tools_calls.json beside Cargo.toml
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    choice: PackageChoice,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen check                     in CI
  tool-gen check --workspace --all-features

With `--format json`:
  {\"file\": PATH, \"fresh\": BOOL, \"tools\": COUNT, \"changes\": [CHANGE], \"diagnostics\": [DIAGNOSTIC]}
  as `tool-gen write --help` explains them";

/// The result as `--format json` shows it.
#[derive(Serialize)]
struct JsonChecked<'a> {
    file: String,
    fresh: bool,
    tools: usize,
    changes: &'a [Change],
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

impl Check {
    pub(super) fn run(&self, format: Format) -> Result<Exit> {
        let selection = Selection::of(&self.choice)?;
        let file = self.output.clone().unwrap_or(selection.manifest);
        let tools = Tools::scan(&selection.scan, format)?;
        let committed = match std::fs::read_to_string(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            read => Some(read.doing(|| format!("read {}", file.display()))?),
        };
        let expected = tools.manifest.to_json();
        let fresh = !tools.has_errors() && committed.as_deref() == Some(&*expected);
        // A file that is no manifest differs in every line; there are no tools to compare.
        let known = committed.as_deref().and_then(|text| Manifest::from_json(text).ok()).unwrap_or_default();
        let found = compatibility::changes(&known, &tools.manifest);
        match format {
            Format::Json => print_json(&JsonChecked {
                file: file.display().to_string(),
                fresh,
                tools: tools.manifest.len(),
                changes: &found,
                diagnostics: report::json(&tools.diagnostics),
            })?,
            Format::Text if tools.has_errors() => {
                report::refusal(&tools.diagnostics, "the manifest cannot be checked");
            }
            Format::Text if fresh => {
                let tools = count(tools.manifest.len(), "tool");
                say(format_args!("{} {} is up to date, {tools}", styled(GREEN, "✓"), shown(&file)));
            }
            Format::Text => {
                let name = shown(&file);
                if let Some(committed) = &committed {
                    print(&changes::line_by_line(committed, &expected, [&name, "sources"]))?;
                    print("\n")?;
                }
                print(&changes::grouped(&found))?;
                let state = if committed.is_some() { "is stale" } else { "does not exist" };
                say(format_args!("\n{} {name} {state}; run `tool-gen write`", styled(RED, "✗")));
            }
        }
        Ok(match (tools.has_errors(), fresh) {
            (true, _) => Exit::Error,
            (false, true) => Exit::Fine,
            (false, false) => Exit::Objection,
        })
    }
}
