//! `tool-gen adopt`

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use clap::Args;
use serde::Serialize;
use tool_gen::Diagnostic;
use tool_gen::adopt::{
    AdoptReport, AnnotationStyle, CandidateKind, ClassCandidate, DependencySources, Fit, MethodCandidate, TypeRole,
};

use super::arguments::{OutputFormat, PackageChoice};
use super::exit::{CommandFailure, ExitStatus, FailureContext, Result};
use super::packages::{PackageSelection, cargo_toml};
use super::report::{self, JsonDiagnostic};
use super::terminal::{BOLD, DIM, GREEN, RED, YELLOW, count, display_path, print, print_json, print_status, styled};

/// Find code that could become tools, and annotate it
///
/// Lists the impl blocks and traits of a package that could be tool classes. Says of each public method whether it fits as
/// it is or with attributes (✓), needs a decision (~), is unknown (?) or does not fit (✗), and why. Nothing is compiled.
/// Types without sources are reported as unknown. `--write` exits with 1 if every method is left to a decision.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct AdoptCommand {
    /// Directory of the package, or its name in the workspace
    #[arg(value_name = "PACKAGE", conflicts_with_all = ["manifest_path", "packages", "workspace"])]
    package: Option<String>,

    /// Only this type or trait; can be repeated. Data types and builders are included only by name
    #[arg(long = "class", value_name = "NAME")]
    classes: Vec<String>,

    /// Concrete type of a generic class, such as `Replica<SqliteStorage>`; can be repeated
    #[arg(long = "instance", value_name = "TYPE")]
    instances: Vec<String>,

    /// Insert the attributes into the sources, with `opt_in` and a `#[tool]` on each method that fits
    #[arg(long)]
    write: bool,

    /// With `--write`, offer all methods that fit, and name the others in `exclude`
    #[arg(long, requires = "write")]
    all: bool,

    #[command(flatten)]
    choice: PackageChoice,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen adopt                         what could be a tool
  tool-gen adopt --class OrderService    one type
  tool-gen adopt --class OrderService --write
  tool-gen adopt --class Replica --instance 'Replica<SqliteStorage>'

With `--format json`:
  {\"classes\": [CLASS], \"methods\": {FIT: COUNT}, \"written\": [PATH], \"next\": [TEXT], \"diagnostics\": [DIAGNOSTIC]}
  CLASS    {\"name\", \"kind\", \"header\", \"place\", \"role\", \"is_annotated\", \"keys\", \"findings\": [FINDING], \"methods\": [METHOD], ..}
  METHOD   {\"name\", \"place\", \"fit\": FIT, \"findings\": [FINDING], \"keys\", \"parameters\", ..}
  FINDING  {\"reason\", \"message\", \"remedy\"}
  FIT      \"unchanged\" | \"attributes\" | \"conversion\" | \"unknown\" | \"unfit\" | \"constructor\" | \"setter\" | \"annotated\"";

/// The result for `--format json`.
#[derive(Serialize)]
struct JsonAdoption<'a> {
    classes: Vec<&'a ClassCandidate>,
    methods: BTreeMap<Fit, usize>,
    written: Vec<String>,
    next: Vec<String>,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

impl AdoptCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        let choice = self.choice();
        if !choice.with.is_empty() {
            return Err(CommandFailure::new("`--with` has no effect on `adopt`").help("select the package itself"));
        }
        let selection = PackageSelection::resolve(&choice)?;
        let manifest = cargo_toml(choice.manifest_path.as_deref())?;
        let dependencies = DependencySources::resolve(&manifest).unwrap_or_else(|error| {
            print_status(format_args!("{} types of dependencies are unknown: {error}", styled(YELLOW, "!")));
            DependencySources::default()
        });
        let report = selection.scan.adopt(&dependencies, &self.instances)?;
        self.check_names(&report)?;
        let written = if self.write { self.write(&report)? } else { Vec::new() };
        let next = if self.write { next_steps(&report, &self.classes, &selection.directories) } else { Vec::new() };
        let (is_written, undecided) = (!written.is_empty(), self.undecided(&report));
        match format {
            OutputFormat::Json => print_json(&self.json(&report, written, next))?,
            OutputFormat::Text => {
                report::diagnostics(&report.diagnostics);
                print(&self.text(&report))?;
                written.iter().for_each(|file| print_status(format_args!("{} {file} annotated", styled(GREEN, "✓"))));
                next.iter().for_each(|step| print_status(format_args!("next: {step}")));
                if self.write && !is_written {
                    print_status(format_args!("{} {}", styled(YELLOW, "!"), nothing_written(undecided)));
                }
            }
        }
        Ok(if self.write && !is_written && undecided > 0 { ExitStatus::Objection } else { ExitStatus::Fine })
    }

    /// Returns the number of methods that `--write` leaves to the user.
    fn undecided(&self, report: &AdoptReport) -> usize {
        let methods = report.classes.iter().filter(|class| self.is_shown(class)).flat_map(|class| &class.methods);
        methods.filter(|method| matches!(method.fit, Fit::Conversion | Fit::Unknown | Fit::Unfit)).count()
    }

    /// Returns the selection of packages, with the positional argument.
    fn choice(&self) -> PackageChoice {
        let mut choice = self.choice.clone();
        match &self.package {
            Some(path) if Path::new(path).exists() => choice.manifest_path = Some(path.into()),
            Some(name) => choice.packages.push(name.clone()),
            None => {}
        }
        choice
    }

    /// Returns an error for a `--class` that does not exist.
    fn check_names(&self, report: &AdoptReport) -> Result {
        let names = || report.classes.iter().map(|class| class.name.as_str());
        match self.classes.iter().find(|wanted| !names().any(|name| name == wanted.as_str())) {
            None => Ok(()),
            Some(missing) => {
                let failure = CommandFailure::new(format!("no impl block or trait `{missing}` with public methods"));
                Err(match tool_model::nearest(missing, names()).first() {
                    Some(near) => failure.help(format!("did you mean `{near}`?")),
                    None => failure,
                })
            }
        }
    }

    fn is_shown(&self, class: &ClassCandidate) -> bool {
        if self.classes.is_empty() { class.role == TypeRole::Service } else { self.classes.contains(&class.name) }
    }

    fn write(&self, report: &AdoptReport) -> Result<Vec<String>> {
        let style = if self.all { AnnotationStyle::All } else { AnnotationStyle::OptIn };
        let mut written = Vec::new();
        for edit in report.edits(&self.classes, style)? {
            std::fs::write(&edit.file, &edit.text).context(|| format!("write {}", edit.file.display()))?;
            written.push(display_path(&edit.file));
        }
        Ok(written)
    }

    fn json<'r>(&self, report: &'r AdoptReport, written: Vec<String>, next: Vec<String>) -> JsonAdoption<'r> {
        let classes: Vec<&ClassCandidate> = report.classes.iter().filter(|class| self.is_shown(class)).collect();
        let diagnostics: &[Diagnostic] = &report.diagnostics;
        JsonAdoption { methods: counted(&classes), classes, written, next, diagnostics: report::json(diagnostics) }
    }

    fn text(&self, report: &AdoptReport) -> String {
        let shown: Vec<&ClassCandidate> = report.classes.iter().filter(|class| self.is_shown(class)).collect();
        let mut text: String = shown.iter().map(|class| describe(class)).collect();
        let counts = counted(&shown);
        let of = |fit: Fit| counts.get(&fit).copied().unwrap_or_default();
        let total: usize = counts.values().sum();
        let labels = [
            (Fit::Annotated, "tools already"),
            (Fit::Unchanged, "fit unchanged"),
            (Fit::Attributes, "with attributes"),
            (Fit::Conversion, "with a conversion function"),
            (Fit::Unknown, "unknown"),
            (Fit::Unfit, "unfit"),
            (Fit::Constructor, "constructors"),
            (Fit::Setter, "setters"),
        ];
        let parts = labels.iter().filter(|(fit, _)| of(*fit) > 0).map(|(fit, label)| format!("{} {label}", of(*fit)));
        let _ = writeln!(text, "{}: {}", count(total, "public method"), parts.collect::<Vec<_>>().join(", "));
        let hidden: Vec<&str> = report
            .classes
            .iter()
            .filter(|class| self.classes.is_empty() && class.role != TypeRole::Service)
            .map(|class| class.name.as_str())
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        if !hidden.is_empty() {
            let _ = writeln!(text, "data types and builders, shown with `--class`: {}", hidden.join(", "));
        }
        text
    }
}

/// Explains why `--write` has written nothing.
fn nothing_written(undecided: usize) -> String {
    match undecided {
        0 => "nothing written: no method is left to annotate".to_owned(),
        1 => "nothing written: 1 method needs a decision; see its `help`".to_owned(),
        count => format!("nothing written: {count} methods need a decision; see their `help`"),
    }
}

fn counted(classes: &[&ClassCandidate]) -> BTreeMap<Fit, usize> {
    let mut counts = BTreeMap::new();
    for method in classes.iter().flat_map(|class| &class.methods) {
        *counts.entry(method.fit).or_default() += 1;
    }
    counts
}

fn describe(class: &ClassCandidate) -> String {
    let mut text = String::new();
    let place = format!("{}:{}", display_path(&class.place.file), class.place.line);
    let _ = writeln!(text, "{} {}", styled(BOLD, &class.header), styled(DIM, place));
    if class.is_annotated {
        text.push_str("  is a tool class already\n\n");
        return text;
    }
    for finding in &class.findings {
        let _ = writeln!(text, "  {} {}\n      help: {}", styled(RED, "✗"), finding.message, finding.remedy);
    }
    if !class.keys.is_empty() {
        let _ = writeln!(text, "  needs `#[tool_class({})]`", class.keys.join(", "));
    }
    class.methods.iter().for_each(|method| describe_method(class, method, &mut text));
    text.push('\n');
    text
}

fn describe_method(class: &ClassCandidate, method: &MethodCandidate, text: &mut String) {
    let (mark, note) = match method.fit {
        Fit::Unchanged | Fit::Attributes => (styled(GREEN, "✓"), ""),
        Fit::Conversion => (styled(YELLOW, "~"), ""),
        Fit::Unknown => (styled(YELLOW, "?"), ""),
        Fit::Unfit => (styled(RED, "✗"), ""),
        Fit::Constructor => ("-".to_owned(), " (constructor)"),
        Fit::Setter => ("-".to_owned(), " (returns the type itself)"),
        Fit::Annotated => (styled(GREEN, "✓"), " (a tool already)"),
    };
    let _ = writeln!(text, "  {mark} {}{note}", method.name);
    // What concerns the class as a whole is said once.
    let own = method.findings.iter().filter(|finding| !class.findings.contains(finding));
    let is_class_key = |remedy: &str| remedy.starts_with("`#[tool_class(");
    for finding in own.filter(|finding| !is_class_key(&finding.remedy)) {
        let separator = if finding.reason.is_attribute() { ": " } else { "\n      help: " };
        let _ = writeln!(text, "      {}{separator}{}", finding.message, finding.remedy);
    }
}

/// Returns what is left to do after writing.
fn next_steps(report: &AdoptReport, names: &[String], directories: &[std::path::PathBuf]) -> Vec<String> {
    let mut steps = Vec::new();
    for directory in directories {
        let file = directory.join("Cargo.toml");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let depends = text
            .parse::<toml::Table>()
            .is_ok_and(|manifest| manifest.get("dependencies").and_then(|table| table.get("tool-runtime")).is_some());
        if !depends {
            steps.push(format!("add `tool-runtime` to `[dependencies]` in {}", display_path(&file)));
        }
    }
    let annotated = report.chosen(names).collect::<Vec<_>>();
    for class in &annotated {
        steps.push(registration(class));
        for method in class.methods.iter().filter(|method| method.fit.is_fit() && method.has_placeholder()) {
            let keys = method.keys.join(", ");
            steps.push(format!("annotate `{}::{}` with types of your own: `#[tool({keys})]`", class.name, method.name));
        }
    }
    for class in report.classes.iter().filter(|class| class.has_placeholder() && !class.is_annotated) {
        let is_named = if names.is_empty() { class.role == TypeRole::Service } else { names.contains(&class.name) };
        if is_named {
            let keys = class.keys.join(", ");
            steps.push(format!("name the concrete type of `{}` with `--instance`, as in `{keys}`", class.header));
        }
    }
    steps.dedup();
    steps
}

/// Returns the call of the dispatcher's builder that a class needs.
fn registration(class: &ClassCandidate) -> String {
    let name = &class.name;
    let is_exclusive = class.methods.iter().any(|method| method.can_be_annotated() && method.is_exclusive);
    let injected: Vec<&str> = class
        .methods
        .iter()
        .filter(|method| method.can_be_annotated())
        .flat_map(|method| &method.parameters)
        .filter(|(_, attribute)| *attribute == "#[inject]")
        .map(|(name, _)| name.as_str())
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let service = match class.kind {
        CandidateKind::Trait => format!("`.service(..)` with an `Arc<dyn {name}>`"),
        _ if class.is_borrowing => {
            format!("the values that `{name}::new` borrows, with `.provide(..)` or `.value(..)`")
        }
        _ if is_exclusive => format!("`.service_mut(..)` with a `{name}`"),
        _ => format!("`.service(..)` with a `{name}`"),
    };
    match injected.is_empty() {
        true => format!("give the dispatcher {service}"),
        false => format!("give the dispatcher {service}, and what is injected: {}", injected.join(", ")),
    }
}
