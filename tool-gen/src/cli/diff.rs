//! `tool-gen diff`

use std::path::Path;

use clap::Args;
use serde::Serialize;
use tool_gen::Diagnostic;
use tool_model::Manifest;
use tool_model::compatibility::{self, Change, ChangeKind};

use super::arguments::{Format, PackageChoice};
use super::changes;
use super::exit::{Exit, Failure, Result};
use super::git::Repository;
use super::packages::{Selection, cargo_toml};
use super::report::{self, JsonDiagnostic};
use super::scanning::Tools;
use super::terminal::{GREEN, RED, YELLOW, print, print_json, say, styled};

/// Say which changes break callers
///
/// OLD and NEW are manifests or git revisions. Of a revision the committed manifest is read, or else its sources.
/// Without NEW, the sources of the working tree. Exits with 1 if a change breaks callers, with 2 if sources cannot be
/// read.
///
/// The schemas are compared. Types that have the same schema are not told apart, although one may take less than the
/// other: `u64` and `u128`, `f32` and `f64`, `String` and a type that is parsed from a string.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct Diff {
    /// A manifest or a git revision
    old: String,

    /// A manifest or a git revision, instead of the sources here
    new: Option<String>,

    #[command(flatten)]
    choice: PackageChoice,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen diff main                 this branch against main
  tool-gen diff v1.2 v1.3
  tool-gen diff deployed/tools_calls.json tools_calls.json

With `--format json`:
  {\"old\": NAME, \"new\": NAME, \"breaking\": [CHANGE], \"compatible\": [CHANGE], \"text\": [CHANGE], \"diagnostics\": [DIAGNOSTIC]}
  CHANGE  {\"tool\", \"path\", \"kind\", \"message\"}";

/// The result as `--format json` shows it.
#[derive(Serialize)]
struct JsonDiff<'a> {
    old: &'a str,
    new: &'a str,
    breaking: Vec<&'a Change>,
    compatible: Vec<&'a Change>,
    text: Vec<&'a Change>,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

/// One side of the comparison.
struct Side {
    name: String,
    manifest: Manifest,
    diagnostics: Vec<Diagnostic>,
}

impl Diff {
    pub(super) fn run(&self, format: Format) -> Result<Exit> {
        let old = self.named(&self.old, format)?;
        let new = match &self.new {
            Some(name) => self.named(name, format)?,
            None => Side::of_sources("sources", &Selection::of(&self.choice)?, format)?,
        };
        let found = compatibility::changes(&old.manifest, &new.manifest);
        let of = |kind| found.iter().filter(|change| change.kind == kind).collect();
        let broken = changes::break_callers(&found);
        match format {
            Format::Json => print_json(&JsonDiff {
                old: &old.name,
                new: &new.name,
                breaking: of(ChangeKind::Breaking),
                compatible: of(ChangeKind::Compatible),
                text: of(ChangeKind::Text),
                diagnostics: report::json(&old.diagnostics).into_iter().chain(report::json(&new.diagnostics)).collect(),
            })?,
            Format::Text => {
                print(&changes::grouped(&found))?;
                let mark = match (broken, found.is_empty()) {
                    (true, _) => styled(RED, "✗"),
                    (false, true) => styled(GREEN, "✓"),
                    (false, false) => styled(YELLOW, "✓"),
                };
                let space = if found.is_empty() { "" } else { "\n" };
                say(format_args!("{space}{mark} {} → {}: {}", old.name, new.name, changes::summary(&found)));
            }
        }
        Ok(if broken { Exit::Objection } else { Exit::Fine })
    }

    /// A file, or else a git revision.
    fn named(&self, name: &str, format: Format) -> Result<Side> {
        if Path::new(name).is_file() {
            return Ok(Side::of_manifest(name.to_owned(), Manifest::load(name)?));
        }
        let neither = || Failure::new(format!("`{name}` is neither a manifest nor a git revision"));
        let cargo_toml = cargo_toml(self.choice.manifest_path.as_deref()).map_err(|_| neither())?;
        let folder = cargo_toml.parent().unwrap_or(&cargo_toml);
        let Some(repository) = Repository::around(folder)? else {
            return Err(neither().help("there is no git repository here"));
        };
        let Some(commit) = repository.commit(name)? else { return Err(neither()) };
        let manifest = Selection::of(&self.choice)?.manifest;
        if let Some(text) = repository.text(&commit, &manifest)? {
            let manifest = Manifest::from_json(&text)
                .map_err(|error| Failure::new(format!("{name}:{}: {error}", manifest.display())))?;
            return Ok(Side::of_manifest(name.to_owned(), manifest));
        }
        let checked_out = repository.check_out(&commit)?;
        let there = checked_out.tree.join(repository.inside(&cargo_toml)?);
        if !there.is_file() {
            return Err(Failure::new(format!("{name} has no {}", repository.inside(&cargo_toml)?)));
        }
        let choice = PackageChoice { manifest_path: Some(there), ..self.choice.clone() };
        Side::of_sources(name, &Selection::of(&choice)?, format)
    }
}

impl Side {
    fn of_manifest(name: String, manifest: Manifest) -> Self {
        Self { name, manifest, diagnostics: Vec::new() }
    }

    /// A tool in a source that cannot be read would look as if it were gone.
    fn of_sources(name: &str, selection: &Selection, format: Format) -> Result<Self> {
        let tools = Tools::scan(selection, format, &format!("{name} cannot be compared"))?;
        Ok(Self { name: name.to_owned(), manifest: tools.manifest, diagnostics: tools.diagnostics })
    }
}
