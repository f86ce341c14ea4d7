//! `tool-gen docs`

mod html;
mod markdown;
mod types;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use tool_model::replace_file;

use super::arguments::{Format, ToolSource};
use super::exit::{Doing, Exit, Result};
use super::report::{self, JsonDiagnostic};
use super::scanning::Tools;
use super::terminal::{GREEN, print, print_json, say, styled};

/// Write a catalogue of all tools, as Markdown or as one HTML page
///
/// The page stands alone: style and search are in it, and it can be read without scripts.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct Docs {
    /// One HTML page with search instead of Markdown
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
  with no text if it went to a file";

/// The result as `--format json` shows it.
#[derive(Serialize)]
struct JsonDocs<'a> {
    form: &'static str,
    file: Option<String>,
    text: Option<&'a str>,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

impl Docs {
    pub(super) fn run(&self, format: Format) -> Result<Exit> {
        let tools = Tools::read(&self.source, format, "nothing is written")?;
        let (form, text) = match self.html {
            true => ("html", html::page(&self.title, &tools.manifest)),
            false => ("markdown", markdown::page(&self.title, &tools.manifest)),
        };
        if let Some(file) = &self.output {
            replace_file(file, &text).doing(|| format!("write {}", file.display()))?;
            if format == Format::Text {
                say(format_args!("{} {} written", styled(GREEN, "✓"), file.display()));
            }
        }
        let file = self.output.as_ref().map(|file| file.display().to_string());
        match (format, &file) {
            (Format::Json, _) => {
                let (text, diagnostics) = (file.is_none().then_some(&*text), report::json(&tools.diagnostics));
                print_json(&JsonDocs { form, file, text, diagnostics })?;
            }
            (Format::Text, None) => print(&text)?,
            (Format::Text, Some(_)) => {}
        }
        Ok(Exit::Fine)
    }
}
