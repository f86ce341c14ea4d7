//! `tool-gen docs`

mod html;
mod markdown;
mod type_tables;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use tool_model::replace_file;

use super::arguments::{OutputFormat, ToolSource};
use super::exit::{ExitStatus, FailureContext, Result};
use super::report::{self, JsonDiagnostic};
use super::scanning::LoadedTools;
use super::terminal::{GREEN, print, print_json, print_status, styled};

/// Write a catalogue of all tools, as Markdown or as one HTML page
///
/// The HTML page is self-contained, and readable without scripts.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct DocsCommand {
    /// Write one HTML page with search instead of Markdown
    #[arg(long)]
    html: bool,

    /// The catalogue's title
    #[arg(long, default_value = "Tools")]
    title: String,

    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    source: ToolSource,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen docs > TOOLS.md
  tool-gen docs --html --title \"Tools of the shop\" -o tools.html

With `--format json`:
  {\"form\": \"markdown\" | \"html\", \"file\": PATH | null, \"text\": TEXT | null, \"diagnostics\": [DIAGNOSTIC]}
  text is null if a file was written";

/// The result for `--format json`.
#[derive(Serialize)]
struct JsonDocs<'a> {
    form: &'static str,
    file: Option<String>,
    text: Option<&'a str>,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

impl DocsCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        let tools = LoadedTools::read(&self.source, format, "nothing was written")?;
        let (form, text) = match self.html {
            true => ("html", html::page(&self.title, &tools.manifest)),
            false => ("markdown", markdown::page(&self.title, &tools.manifest)),
        };
        if let Some(file) = &self.output {
            replace_file(file, &text).context(|| format!("write {}", file.display()))?;
            if format == OutputFormat::Text {
                print_status(format_args!("{} {} written", styled(GREEN, "✓"), file.display()));
            }
        }
        let file = self.output.as_ref().map(|file| file.display().to_string());
        match (format, &file) {
            (OutputFormat::Json, _) => {
                let (text, diagnostics) = (file.is_none().then_some(&*text), report::json(&tools.diagnostics));
                print_json(&JsonDocs { form, file, text, diagnostics })?;
            }
            (OutputFormat::Text, None) => print(&text)?,
            (OutputFormat::Text, Some(_)) => {}
        }
        Ok(ExitStatus::Fine)
    }
}
