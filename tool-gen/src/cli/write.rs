//! `tool-gen write`

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use tool_model::Manifest;
use tool_model::compatibility::{self, Change};

use super::arguments::{Format, PackageChoice};
use super::changes;
use super::exit::{Exit, Result};
use super::packages::Selection;
use super::report::{self, JsonDiagnostic};
use super::scanning::Tools;
use super::terminal::{GREEN, count, print_json, say, shown, styled};

/// Write the manifest of a package
///
/// The file is replaced in one step and only if it changes. Where a source has an error, nothing is written.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct Write {
    /// Write to this file instead of tools_calls.json beside Cargo.toml
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    choice: PackageChoice,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen write
  tool-gen write -p services -F sqlite
  tool-gen write --workspace -o app/tools_calls.json

With `--format json`:
  {\"file\": PATH, \"written\": BOOL, \"tools\": COUNT, \"changes\": [CHANGE], \"diagnostics\": [DIAGNOSTIC]}
  CHANGE      {\"tool\", \"path\", \"kind\": \"breaking\" | \"compatible\" | \"text\", \"message\"}
  DIAGNOSTIC  {\"severity\": \"warning\" | \"error\", \"message\", \"help\", \"place\": {\"file\", \"line\", \"column\", \"width\", \"text\"}}";

impl Write {
    pub(super) fn run(&self, format: Format) -> Result<Exit> {
        let selection = Selection::of(&self.choice)?;
        let file = self.output.clone().unwrap_or(selection.manifest);
        let tools = Tools::scan(&selection.scan, format)?;
        let written = Written::write(&file, &tools)?;
        match format {
            Format::Text => written.say(),
            Format::Json => print_json(&written.json(&tools))?,
        }
        Ok(if written.refused { Exit::Error } else { Exit::Fine })
    }
}

/// What came of writing a manifest.
pub(super) struct Written<'t> {
    file: &'t Path,
    tools: &'t Tools,
    /// Whether the sources have an error, so that the file was left alone.
    pub(super) refused: bool,
    /// Whether the file has changed.
    pub(super) written: bool,
    /// What has changed for callers.
    changes: Vec<Change>,
}

/// The result as `--format json` shows it.
#[derive(Serialize)]
pub(super) struct JsonWritten<'a> {
    file: String,
    written: bool,
    tools: usize,
    changes: &'a [Change],
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

impl<'t> Written<'t> {
    pub(super) fn write(file: &'t Path, tools: &'t Tools) -> Result<Self> {
        if tools.has_errors() {
            return Ok(Self { file, tools, refused: true, written: false, changes: Vec::new() });
        }
        // A file that is not there, or is no manifest, held no tools.
        let known = Manifest::load(file).unwrap_or_default();
        let written = tools.manifest.save(file)?;
        let changes = compatibility::changes(&known, &tools.manifest);
        Ok(Self { file, tools, refused: false, written, changes })
    }

    /// Says what has changed.
    pub(super) fn say(&self) {
        if self.refused {
            return report::refusal(&self.tools.diagnostics, "nothing is written");
        }
        let tools = count(self.tools.manifest.len(), "tool");
        let file = shown(self.file);
        if !self.written {
            return say(format_args!("{} {file} is up to date, {tools}", styled(GREEN, "✓")));
        }
        let changes = changes::grouped(&self.changes);
        if !changes.is_empty() {
            say(changes);
        }
        say(format_args!("{} {file} written, {tools}", styled(GREEN, "✓")));
    }

    pub(super) fn json<'a>(&'a self, tools: &'a Tools) -> JsonWritten<'a> {
        JsonWritten {
            file: self.file.display().to_string(),
            written: self.written,
            tools: self.tools.manifest.len(),
            changes: &self.changes,
            diagnostics: report::json(&tools.diagnostics),
        }
    }
}
