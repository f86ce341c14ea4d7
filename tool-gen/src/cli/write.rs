//! `tool-gen write`

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use tool_model::compatibility::{self, Change};
use tool_model::{Manifest, ManifestError};

use super::arguments::{OutputFormat, PackageChoice};
use super::changes;
use super::exit::{CommandFailure, ExitStatus, Result};
use super::packages::PackageSelection;
use super::report::{self, JsonDiagnostic};
use super::scanning::LoadedTools;
use super::terminal::{GREEN, count, display_path, print_json, print_status, styled};

/// Write the manifest of a package
///
/// The file is replaced atomically, and only if it changes. Nothing is written if the sources have errors.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct WriteCommand {
    #[command(flatten)]
    target: OutputTarget,

    #[command(flatten)]
    choice: PackageChoice,
}

/// The output file and how it is written.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct OutputTarget {
    /// Write to this file instead of tools_calls.json beside Cargo.toml
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Keep the descriptions and instructions in the file, for files whose texts are edited
    #[arg(long)]
    keep_words: bool,

    /// Allow a manifest without tools to replace one with tools
    #[arg(long)]
    allow_empty: bool,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen write
  tool-gen write -p services -F sqlite -o app/tools_calls.json
  tool-gen write --workspace -o app/tools_calls.json
  tool-gen write --with tool-builtins::Files
  tool-gen write -o prompts.json --keep-words

With `--format json`:
  {\"file\": PATH, \"written\": BOOL, \"tools\": COUNT, \"changes\": [CHANGE], \"diagnostics\": [DIAGNOSTIC]}
  CHANGE      {\"tool\", \"path\", \"kind\": \"breaking\" | \"compatible\" | \"text\", \"message\"}
  DIAGNOSTIC  {\"severity\": \"warning\" | \"error\", \"message\", \"help\", \"place\": {\"file\", \"line\", \"column\", \"width\", \"text\"}}";

impl WriteCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        let selection = PackageSelection::resolve(&self.choice)?;
        let file = self.target.output.as_ref().unwrap_or(&selection.manifest);
        let tools = LoadedTools::scan(&selection, format, "nothing was written")?.with_advice(format);
        let written = WriteOutcome::write(file, &tools, &self.target)?;
        match format {
            OutputFormat::Text => written.print_changes(),
            OutputFormat::Json => print_json(&written.json())?,
        }
        Ok(ExitStatus::Fine)
    }
}

/// The outcome of writing a manifest.
pub(super) struct WriteOutcome<'t> {
    file: &'t Path,
    tools: &'t LoadedTools,
    /// `true` if the file has changed.
    pub(super) written: bool,
    /// The changes for callers.
    changes: Vec<Change>,
}

/// The result for `--format json`.
#[derive(Serialize)]
pub(super) struct JsonWritten<'a> {
    file: String,
    written: bool,
    tools: usize,
    changes: &'a [Change],
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

impl<'t> WriteOutcome<'t> {
    pub(super) fn write(file: &'t Path, tools: &'t LoadedTools, target: &OutputTarget) -> Result<Self> {
        let known = match known(file) {
            // Texts that cannot be read cannot be kept.
            Some(Err(error)) if target.keep_words => return Err(error.into()),
            Some(Ok(known)) => known,
            Some(Err(_)) | None => Manifest::default(),
        };
        if tools.manifest.is_empty() && !known.is_empty() && !target.allow_empty {
            let has = count(known.len(), "tool");
            return Err(CommandFailure::new(format!(
                "the sources have no tools, but {} has {has}; nothing was written",
                display_path(file)
            ))
            .help("select other packages with `-p` or `--workspace`, or pass `--allow-empty`"));
        }
        let reworded = target.keep_words.then(|| tools.manifest.with_words_of(&known));
        let manifest = reworded.as_ref().unwrap_or(&tools.manifest);
        let written = manifest.save(file)?;
        Ok(Self { file, tools, written, changes: compatibility::changes(&known, manifest) })
    }

    /// Prints the changes.
    pub(super) fn print_changes(&self) {
        let tools = count(self.tools.manifest.len(), "tool");
        let file = display_path(self.file);
        if !self.written {
            return print_status(format_args!("{} {file} is up to date, {tools}", styled(GREEN, "✓")));
        }
        let changes = changes::render(&self.changes);
        if !changes.is_empty() {
            print_status(changes);
        }
        print_status(format_args!("{} {file} written, {tools}", styled(GREEN, "✓")));
    }

    pub(super) fn json(&self) -> JsonWritten<'_> {
        JsonWritten {
            file: self.file.display().to_string(),
            written: self.written,
            tools: self.tools.manifest.len(),
            changes: &self.changes,
            diagnostics: report::json(&self.tools.diagnostics),
        }
    }
}

/// Loads the manifest in a file. Returns `None` if there is no regular file: reading a pipe could block forever.
fn known(file: &Path) -> Option<std::result::Result<Manifest, ManifestError>> {
    file.is_file().then(|| Manifest::load(file))
}
