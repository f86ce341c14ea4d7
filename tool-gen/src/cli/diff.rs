//! `tool-gen diff`

use std::path::Path;

use clap::Args;
use serde::Serialize;
use tool_gen::{Diagnostic, Severity};
use tool_model::Manifest;
use tool_model::compatibility::{self, Change, ChangeKind};

use super::arguments::{OutputFormat, PackageChoice};
use super::changes;
use super::exit::{CommandFailure, ExitStatus, Result};
use super::git::{CheckedOutTree, GitRepository};
use super::packages::{PackageSelection, cargo_toml};
use super::report::{self, JsonDiagnostic};
use super::scanning::LoadedTools;
use super::terminal::{GREEN, RED, YELLOW, print, print_json, print_status, styled};

/// Show which changes break callers
///
/// OLD and NEW are manifest files or git revisions. For a revision, the committed manifest is compared, or else its
/// sources. NEW defaults to the sources in the working tree. Exits with 1 if a change breaks callers, with 2 if sources
/// cannot be read.
///
/// Sources also show Rust types and serde aliases. With sources on both sides, `u128` to `u64`, `u64` to `i64`, `f64` to
/// `f32`, and `String` to a parsed type break callers; a renamed field that keeps its old name as an alias does not.
/// Manifest files do not show these, and a note says so.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct DiffCommand {
    /// Manifest file or git revision
    old: String,

    /// Manifest file or git revision; by default the sources in the working tree
    new: Option<String>,

    #[command(flatten)]
    choice: PackageChoice,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen diff main                 compare this branch with main
  tool-gen diff v1.2 v1.3
  tool-gen diff deployed/tools_calls.json tools_calls.json

With `--format json`:
  {\"old\": NAME, \"new\": NAME, \"breaking\": [CHANGE], \"compatible\": [CHANGE], \"text\": [CHANGE], \"note\": TEXT | null, \"diagnostics\": [DIAGNOSTIC]}
  CHANGE  {\"tool\", \"path\", \"kind\", \"message\"}";

/// The result for `--format json`.
#[derive(Serialize)]
struct JsonDiff<'a> {
    old: &'a str,
    new: &'a str,
    breaking: Vec<&'a Change>,
    compatible: Vec<&'a Change>,
    text: Vec<&'a Change>,
    note: Option<&'a str>,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

/// One side of the comparison.
struct DiffSide {
    name: String,
    manifest: Manifest,
    /// `true` if the manifest was read from sources, which show the Rust types.
    has_facts: bool,
    diagnostics: Vec<Diagnostic>,
}

impl DiffCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        let old = self.named(&self.old, format)?;
        let new = match &self.new {
            Some(name) => self.named(name, format)?,
            None => DiffSide::from_sources("sources", PackageSelection::resolve(&self.choice)?, format)?,
        };
        let found = compatibility::changes(&old.manifest, &new.manifest);
        let note = not_compared(&old, &new);
        let of = |kind| found.iter().filter(|change| change.kind == kind).collect();
        let broken = changes::has_breaking(&found);
        match format {
            OutputFormat::Json => print_json(&JsonDiff {
                old: &old.name,
                new: &new.name,
                breaking: of(ChangeKind::Breaking),
                compatible: of(ChangeKind::Compatible),
                text: of(ChangeKind::Text),
                note: note.as_deref(),
                diagnostics: report::json(&old.diagnostics).into_iter().chain(report::json(&new.diagnostics)).collect(),
            })?,
            OutputFormat::Text => {
                print(&changes::render(&found))?;
                if let Some(note) = &note {
                    print_status(format_args!("{}note: {note}", if found.is_empty() { "" } else { "\n" }));
                }
                let mark = match (broken, found.is_empty()) {
                    (true, _) => styled(RED, "✗"),
                    (false, true) => styled(GREEN, "✓"),
                    (false, false) => styled(YELLOW, "✓"),
                };
                let space = if found.is_empty() || note.is_some() { "" } else { "\n" };
                print_status(format_args!("{space}{mark} {} → {}: {}", old.name, new.name, changes::summary(&found)));
            }
        }
        Ok(if broken { ExitStatus::Objection } else { ExitStatus::Fine })
    }

    /// Reads a manifest file, or else a git revision.
    fn named(&self, name: &str, format: OutputFormat) -> Result<DiffSide> {
        if Path::new(name).is_file() {
            return Ok(DiffSide::from_manifest(name, Manifest::load(name)?));
        }
        let neither = || CommandFailure::new(format!("`{name}` is neither a manifest file nor a git revision"));
        let cargo_toml = cargo_toml(self.choice.manifest_path.as_deref()).map_err(|_| neither())?;
        let directory = cargo_toml.parent().unwrap_or(&cargo_toml);
        let Some(repository) = GitRepository::containing(directory)? else {
            return Err(neither().help("not in a git repository"));
        };
        let Some(commit) = repository.commit(name)? else {
            return Err(match repository.commit("HEAD")? {
                Some(_) => neither(),
                None => {
                    neither().help("the repository has no commits yet: commit first, or compare with a manifest file")
                }
            });
        };
        let manifest = PackageSelection::resolve(&self.choice)?.manifest;
        if let Some(text) = repository.file_text(&commit, &manifest)? {
            let manifest = Manifest::from_json(&text)
                .map_err(|error| CommandFailure::new(format!("{name}:{}: {error}", manifest.display())))?;
            let checked_out = repository.check_out(&commit)?;
            let facts = self.selection_in(&repository, &checked_out, &cargo_toml, name).ok().and_then(scan_with_facts);
            return Ok(DiffSide::from_manifest(name, manifest).with_facts_of(facts));
        }
        let checked_out = repository.check_out(&commit)?;
        let selection = self.selection_in(&repository, &checked_out, &cargo_toml, name)?;
        DiffSide::from_sources(name, selection, format)
    }

    /// Selects the same packages in the files of a commit.
    fn selection_in(
        &self,
        repository: &GitRepository,
        checked_out: &CheckedOutTree,
        cargo_toml: &Path,
        name: &str,
    ) -> Result<PackageSelection> {
        let inside = repository.relative_path(cargo_toml)?;
        let there = checked_out.tree.join(&inside);
        if !there.is_file() {
            return Err(CommandFailure::new(format!("{name} has no {inside}")));
        }
        PackageSelection::resolve(&PackageChoice { manifest_path: Some(there), ..self.choice.clone() })
    }
}

impl DiffSide {
    fn from_manifest(name: &str, manifest: Manifest) -> Self {
        Self { name: name.to_owned(), manifest, has_facts: false, diagnostics: Vec::new() }
    }

    /// Scans sources. Fails if one of them has an error: its tools would look removed.
    fn from_sources(name: &str, mut selection: PackageSelection, format: OutputFormat) -> Result<Self> {
        selection.scan = selection.scan.with_facts();
        let tools = LoadedTools::scan(&selection, format, &format!("cannot compare {name}"))?;
        Ok(Self { name: name.to_owned(), manifest: tools.manifest, has_facts: true, diagnostics: tools.diagnostics })
    }

    /// Adds the facts of the sources beside a committed manifest, if the manifest is up to date.
    fn with_facts_of(mut self, scanned: Option<Manifest>) -> Self {
        let reworded = scanned.map(|scanned| scanned.with_words_of(&self.manifest));
        if let Some(reworded) = reworded.filter(|manifest| compatibility::without_facts(manifest) == self.manifest) {
            self.manifest = reworded;
            self.has_facts = true;
        }
        self
    }
}

/// Returns the tools with their facts, unless the sources have errors.
fn scan_with_facts(selection: PackageSelection) -> Option<Manifest> {
    let scanned = selection.scan.with_facts().run().ok()?;
    let has_errors = scanned.diagnostics.iter().any(|found| found.severity == Severity::Error);
    (!has_errors).then_some(scanned.manifest)
}

/// Returns one line on the differences that a manifest without sources hides.
fn not_compared(old: &DiffSide, new: &DiffSide) -> Option<String> {
    let names: Vec<_> = [old, new].iter().filter(|side| !side.has_facts).map(|side| side.name.as_str()).collect();
    let (names, verb) = match names.as_slice() {
        [] => return None,
        [only] => ((*only).to_owned(), "does"),
        several => (several.join(" and "), "do"),
    };
    let aliases = if new.has_facts { "" } else { " or serde aliases" };
    Some(format!("{names} {verb} not show 64- and 128-bit integer types, `f32`, parsed strings{aliases}: not compared"))
}
