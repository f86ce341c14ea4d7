//! `tool-gen docs`

mod html;
mod markdown;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::arguments::{Format, ToolSource};
use super::exit::{Doing, Exit, Result};
use super::report;
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
  {\"form\": \"markdown\" | \"html\", \"file\": PATH | null, \"text\": TEXT}, with no text if it went to a file";

/// The result as `--format json` shows it.
#[derive(Serialize)]
struct JsonDocs<'a> {
    form: &'static str,
    file: Option<String>,
    text: Option<&'a str>,
}

impl Docs {
    pub(super) fn run(&self, format: Format) -> Result<Exit> {
        let tools = Tools::read(&self.source, format)?;
        if tools.has_errors() {
            report::refusal(&tools.diagnostics, "nothing is written");
            return Ok(Exit::Error);
        }
        let (form, text) = match self.html {
            true => ("html", html::page(&self.title, &tools.manifest)),
            false => ("markdown", markdown::page(&self.title, &tools.manifest)),
        };
        if let Some(file) = &self.output {
            std::fs::write(file, &text).doing(|| format!("write {}", file.display()))?;
            if format == Format::Text {
                say(format_args!("{} {} written", styled(GREEN, "✓"), file.display()));
            }
        }
        let file = self.output.as_ref().map(|file| file.display().to_string());
        match (format, &file) {
            (Format::Json, _) => print_json(&JsonDocs { form, text: file.is_none().then_some(&*text), file })?,
            (Format::Text, None) => print(&text)?,
            (Format::Text, Some(_)) => {}
        }
        Ok(Exit::Fine)
    }
}
