//! `tool-gen write`

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use tool_model::compatibility::{self, Change};
use tool_model::{Manifest, ManifestError};

use super::arguments::{Format, PackageChoice};
use super::changes;
use super::exit::{Exit, Failure, Result};
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
    #[command(flatten)]
    target: Target,

    #[command(flatten)]
    choice: PackageChoice,
}

/// What is written, and where to.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Target {
    /// Write to this file instead of tools_calls.json beside Cargo.toml
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Keep the descriptions and instructions that stand in the file: they are edited there
    #[arg(long)]
    keep_words: bool,

    /// Write a manifest without tools in the place of one that has some
    #[arg(long)]
    allow_empty: bool,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen write
  tool-gen write -p services -F sqlite -o app/tools_calls.json
  tool-gen write --workspace -o app/tools_calls.json
  tool-gen write -o prompts.json --keep-words

With `--format json`:
  {\"file\": PATH, \"written\": BOOL, \"tools\": COUNT, \"changes\": [CHANGE], \"diagnostics\": [DIAGNOSTIC]}
  CHANGE      {\"tool\", \"path\", \"kind\": \"breaking\" | \"compatible\" | \"text\", \"message\"}
  DIAGNOSTIC  {\"severity\": \"warning\" | \"error\", \"message\", \"help\", \"place\": {\"file\", \"line\", \"column\", \"width\", \"text\"}}";

impl Write {
    pub(super) fn run(&self, format: Format) -> Result<Exit> {
        let selection = Selection::of(&self.choice)?;
        let file = self.target.output.as_ref().unwrap_or(&selection.manifest);
        let tools = Tools::scan(&selection, format, "nothing is written")?;
        let written = Written::write(file, &tools, &self.target)?;
        match format {
            Format::Text => written.say(),
            Format::Json => print_json(&written.json())?,
        }
        Ok(Exit::Fine)
    }
}

/// What came of writing a manifest.
pub(super) struct Written<'t> {
    file: &'t Path,
    tools: &'t Tools,
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
    pub(super) fn write(file: &'t Path, tools: &'t Tools, target: &Target) -> Result<Self> {
        let known = match known(file) {
            // Words that cannot be read cannot be kept.
            Some(Err(error)) if target.keep_words => return Err(error.into()),
            Some(Ok(known)) => known,
            Some(Err(_)) | None => Manifest::default(),
        };
        if tools.manifest.is_empty() && !known.is_empty() && !target.allow_empty {
            let has = count(known.len(), "tool");
            return Err(Failure::new(format!("{} has {has}, the sources have none: nothing is written", shown(file)))
                .help(
                    "choose other packages with `-p` or `--workspace`, or write it all the same with `--allow-empty`",
                ));
        }
        let reworded = target.keep_words.then(|| tools.manifest.with_words_of(&known));
        let manifest = reworded.as_ref().unwrap_or(&tools.manifest);
        let written = manifest.save(file)?;
        Ok(Self { file, tools, written, changes: compatibility::changes(&known, manifest) })
    }

    /// Says what has changed.
    pub(super) fn say(&self) {
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

/// The manifest that stands there; nothing where there is none, or where what is there is no file: to read a pipe could
/// wait forever.
fn known(file: &Path) -> Option<std::result::Result<Manifest, ManifestError>> {
    file.is_file().then(|| Manifest::load(file))
}
