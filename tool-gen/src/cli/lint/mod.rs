//! `tool-gen lint`

mod rules;

use annotate_snippets::Level;
use clap::{Args, ValueEnum};
use serde::Serialize;
use tool_dialect::Dialect;
use tool_gen::SourcePlace;

use super::arguments::{OutputFormat, ToolSource};
use super::exit::{ExitStatus, Result};
use super::report::{self, JsonDiagnostic, JsonPlace};
use super::scanning::LoadedTools;
use super::terminal::{GREEN, RED, YELLOW, count, print, print_json, print_status, styled};

/// Find problems for models and providers
///
/// Finds undocumented tools and arguments, names that providers reject, arguments without a type, overlong
/// descriptions, tools that destroy something without saying so and tools that are for tests. With `--dialect`, also finds what that provider's format cannot express, and limits that are exceeded.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct LintCommand {
    /// Fail on findings of this level and above
    #[arg(short = 'D', long, value_enum, default_value_t, value_name = "LEVEL")]
    deny: DenyLevel,

    /// Provider's format to check, such as `openai`, `anthropic` or `gemini`; can be repeated
    #[arg(long = "dialect", value_name = "NAME")]
    dialects: Vec<Dialect>,

    /// Check the providers' strict modes
    #[arg(long, requires = "dialects")]
    strict: bool,

    #[command(flatten)]
    source: ToolSource,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen lint
  tool-gen lint --deny warnings      in CI
  tool-gen lint --dialect openai --strict

With `--format json`:
  {\"findings\": [FINDING], \"denied\": COUNT, \"diagnostics\": [DIAGNOSTIC]}
  FINDING  {\"level\": \"note\" | \"warning\" | \"error\", \"rule\", \"tool\", \"path\", \"message\", \"help\", \"place\"}";

/// The least level of findings that make the command fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum DenyLevel {
    #[default]
    Errors,
    Warnings,
    /// Report, but do not fail
    Nothing,
}

/// The level of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum LintLevel {
    /// Nothing to fix: the information reaches the model in another way.
    Note,
    Warning,
    Error,
}

/// A finding of a rule.
#[derive(Clone, Debug)]
struct LintFinding {
    severity: LintLevel,
    /// The rule that found it, such as `undocumented-tool`.
    rule: &'static str,
    tool: String,
    /// The path in the tool: `arguments.limit`, or empty.
    path: String,
    message: String,
    help: String,
    place: Option<SourcePlace>,
}

/// A finding for `--format json`.
#[derive(Serialize)]
struct JsonFinding<'a> {
    level: LintLevel,
    rule: &'a str,
    tool: &'a str,
    path: &'a str,
    message: &'a str,
    help: &'a str,
    place: Option<JsonPlace<'a>>,
}

/// The result for `--format json`.
#[derive(Serialize)]
struct JsonLint<'a> {
    findings: Vec<JsonFinding<'a>>,
    denied: usize,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

impl LintCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        let tools = LoadedTools::read(&self.source, format, "the tools were not checked")?;
        let mut findings = rules::findings(&tools.manifest, &tools.for_tests);
        let is_accepted = |finding: &LintFinding| {
            let argument = finding.path.strip_prefix("arguments.").unwrap_or_default();
            finding.rule == "any-argument" && tools.accepted_any.contains(&(finding.tool.clone(), argument.to_owned()))
        };
        findings.retain(|finding| !is_accepted(finding));
        findings.extend(
            self.dialects.iter().flat_map(|&dialect| rules::dialect_findings(dialect, self.strict, &tools.manifest)),
        );
        findings.iter_mut().for_each(|finding| finding.place = tools.places.get(&finding.tool).cloned());
        let denied = findings.iter().filter(|finding| self.deny.includes(finding.severity)).count();
        match format {
            OutputFormat::Json => print_json(&JsonLint {
                findings: findings.iter().map(LintFinding::json).collect(),
                denied,
                diagnostics: report::json(&tools.diagnostics),
            })?,
            OutputFormat::Text => {
                for finding in &findings {
                    print(&format!("{}\n\n", finding.describe()))?;
                }
                summary(&findings, tools.manifest.len(), denied);
            }
        }
        Ok(if denied == 0 { ExitStatus::Fine } else { ExitStatus::Objection })
    }
}

impl DenyLevel {
    fn includes(self, severity: LintLevel) -> bool {
        match self {
            Self::Nothing => false,
            Self::Errors => severity == LintLevel::Error,
            Self::Warnings => severity != LintLevel::Note,
        }
    }
}

impl LintFinding {
    /// Renders the finding like a compiler.
    fn describe(&self) -> String {
        let level = match self.severity {
            LintLevel::Error => Level::ERROR,
            LintLevel::Warning => Level::WARNING,
            LintLevel::Note => Level::NOTE,
        };
        let subject = if self.path.is_empty() { String::new() } else { format!(" {}", self.path) };
        let tool = if self.tool.is_empty() { String::new() } else { format!("`{}`{subject} ", self.tool) };
        let message = format!("{tool}{} [{}]", self.message, self.rule);
        report::render(level, &message, Some(&self.help), self.place.as_ref())
    }

    fn json(&self) -> JsonFinding<'_> {
        JsonFinding {
            level: self.severity,
            rule: self.rule,
            tool: &self.tool,
            path: &self.path,
            message: &self.message,
            help: &self.help,
            place: self.place.as_ref().map(JsonPlace::new),
        }
    }
}

fn summary(findings: &[LintFinding], tools: usize, denied: usize) {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (of(LintLevel::Error), of(LintLevel::Warning));
    let tools = count(tools, "tool");
    let found = format!("{}, {} in {tools}", count(errors, "error"), count(warnings, "warning"));
    match (findings.is_empty(), denied) {
        (true, _) => print_status(format_args!("{} no findings in {tools}", styled(GREEN, "✓"))),
        (false, 0) => print_status(format_args!("{} {found}", styled(YELLOW, "!"))),
        (false, _) => print_status(format_args!("{} {found}", styled(RED, "✗"))),
    }
}
