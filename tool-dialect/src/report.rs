//! Loss reports: what a provider's format cannot express, and which limits are exceeded.

use std::fmt;

use tool_model::ToolDefinition;

use crate::DialectForm;
use crate::plan::{self, PlannedTool, WrittenTool};
use crate::rules::ProviderRules;
use crate::schema::{LossRecorder, SchemaLoss};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossLevel {
    /// The constraint moved from the schema into the description.
    Note,
    /// The provider learns less than the definition says.
    Loss,
    /// The provider rejects the request, or may reject it.
    Limit,
}

/// One loss, or one exceeded limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossFinding {
    /// The severity.
    pub level: LossLevel,
    /// A stable identifier: `moved`, `map`, `any`, `recursive`, `too-many-tools`, ….
    pub kind: &'static str,
    /// The name of the tool; empty if the finding concerns all tools.
    pub tool: String,
    /// The path in the tool's arguments, such as `order.items[].sku`; empty if the finding concerns the whole tool.
    pub path: String,
    /// The message, which continues after the name of the tool.
    pub message: String,
    /// The suggested fix.
    pub remedy: String,
}

impl fmt::Display for LossFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.tool.as_str(), self.path.as_str()) {
            ("", _) => write!(f, "{}", self.message)?,
            (tool, "") => write!(f, "`{tool}` {}", self.message)?,
            (tool, path) => write!(f, "`{tool}` {path}: {}", self.message)?,
        }
        write!(f, " ({})", self.remedy)
    }
}

/// Everything that a provider's format cannot express about a set of tools, and the limits they exceed.
///
/// ```
/// use tool_dialect::{Dialect, LossLevel};
/// use tool_model::Manifest;
///
/// let manifest = Manifest::from_json(
///     r#"{"labels.set": {
///       "description": "Set labels.", "handler": "app::set",
///       "arguments": {"labels": {"type": "object", "required": true, "additionalProperties": {"type": "string"}}}
///     }}"#,
/// )?;
/// assert!(Dialect::OpenAiChat.report(manifest.iter()).is_empty());
///
/// let report = Dialect::OpenAiChat.strict().report(manifest.iter());
/// let found = &report.findings[0];
/// assert_eq!((found.level, found.kind, found.path.as_str()), (LossLevel::Loss, "map", "labels"));
/// # Ok::<(), tool_model::ManifestError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossReport {
    /// The findings: those about all tools first, then by tool.
    pub findings: Vec<LossFinding>,
}

impl LossReport {
    /// Returns `true` if nothing is lost and no limit is exceeded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns the findings of at least this level.
    pub fn at_least(&self, level: LossLevel) -> impl Iterator<Item = &LossFinding> {
        self.findings.iter().filter(move |finding| finding.level >= level)
    }

    fn add(
        &mut self,
        level: LossLevel,
        kind: &'static str,
        tool: &str,
        path: &str,
        (message, remedy): (String, String),
    ) {
        let (tool, path) = (tool.to_owned(), path.to_owned());
        self.findings.push(LossFinding { level, kind, tool, path, message, remedy });
    }
}

impl fmt::Display for LossReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))
    }
}

impl DialectForm {
    /// Returns what this form cannot express about the tools, and the provider's limits that they exceed. Never fails:
    /// tools that [`offer`](DialectForm::offer) would reject are in the report.
    #[must_use]
    pub fn report<'a>(self, tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>) -> LossReport {
        let rules = self.dialect.rules();
        let (planned, clashes) = plan::plan(self, tools);
        let mut report = LossReport::default();
        for clash in clashes {
            let remedy = "rename one of them with `name = \"..\"`, or in the selection".to_owned();
            let words =
                (format!("and `{}` are both named `{}` for {}", clash.tools[1], clash.encoded, rules.title), remedy);
            report.add(LossLevel::Limit, "name-clash", &clash.tools[0], "", words);
        }
        too_many_tools(&mut report, rules, planned.len());
        no_strict_mode(&mut report, rules, self);
        for (tool, written) in planned.iter().zip(plan::write::<LossRecorder>(self, &planned)) {
            names(&mut report, rules, tool);
            description(&mut report, rules, tool);
            schema(&mut report, rules, tool, &written);
        }
        report
    }
}

/// Providers reject the whole request, not just the excess tools.
fn too_many_tools(report: &mut LossReport, rules: &ProviderRules, count: usize) {
    if let Some(most) = rules.most_tools.filter(|most| count > *most) {
        let remedy = "select fewer of them, or let the model search for them".to_owned();
        let message = format!("{count} tools are offered, but {} allows {most}", rules.title);
        report.add(LossLevel::Limit, "too-many-tools", "", "", (message, remedy));
    }
}

fn no_strict_mode(report: &mut LossReport, rules: &ProviderRules, form: DialectForm) {
    if form.strict && rules.strict.is_none() {
        let message = format!("{} has no strict mode: the provider does not enforce schemas", rules.title);
        let remedy = "turn strict mode off; arguments are checked when a tool is called".to_owned();
        report.add(LossLevel::Loss, "no-strict-mode", "", "", (message, remedy));
    }
}

/// A name that was shortened or changed beyond its dots tells the model less.
fn names(report: &mut LossReport, rules: &ProviderRules, tool: &PlannedTool<'_>) {
    if tool.name.replace('.', "__") != *tool.encoded && tool.name != tool.encoded {
        let longest = rules.tool_names.longest;
        let words = (
            format!(
                "is named `{}` for {}, which allows at most {longest} letters, digits, `_` and `-`",
                tool.encoded, rules.title
            ),
            "shorten or change `name = \"..\"` or `prefix = \"..\"`".to_owned(),
        );
        report.add(LossLevel::Loss, "name", tool.name, "", words);
    }
    for (own, other) in &tool.renamed {
        let message = format!("is named `{other}` for {}, which does not allow its own name", rules.title);
        let remedy = "none needed: calls are decoded; `#[arg(rename = \"..\")]` changes the name".to_owned();
        report.add(LossLevel::Note, "argument-name", tool.name, own, (message, remedy));
    }
}

fn description(report: &mut LossReport, rules: &ProviderRules, tool: &PlannedTool<'_>) {
    if rules.described && tool.tool.description.trim().is_empty() {
        let message = format!("has no description, which {} requires", rules.title);
        let remedy = "add a doc comment, or `description = \"..\"`".to_owned();
        report.add(LossLevel::Limit, "no-description", tool.name, "", (message, remedy));
    }
}

fn schema(report: &mut LossReport, rules: &ProviderRules, tool: &PlannedTool<'_>, written: &WrittenTool<LossRecorder>) {
    if let Some(attempt) = &written.attempt {
        let obstacles = attempt.notes.found.iter().filter(|(_, loss)| loss.forbids_strict());
        for (path, loss) in obstacles {
            let (message, remedy) = loss.words(rules.title);
            let message = format!("{message}, so the tool is not offered strictly");
            let remedy = format!("{remedy}; `strict = false` silences this");
            report.add(LossLevel::Loss, loss.kind(), tool.name, path, (message, remedy));
        }
        if !attempt.refused {
            report.add(LossLevel::Loss, "strict-budget", tool.name, "", over_budget(rules));
        }
    }
    for (path, loss) in &written.definition.notes.found {
        let level =
            if matches!(loss, SchemaLoss::Moved(_) | SchemaLoss::Tuple) { LossLevel::Note } else { LossLevel::Loss };
        report.add(level, loss.kind(), tool.name, path, loss.words(rules.title));
    }
}

fn over_budget(rules: &ProviderRules) -> (String, String) {
    let budget = rules.strict.as_ref().and_then(|strict| strict.budget);
    let limits = budget.map_or_else(String::new, |budget| {
        format!("{} tools, {} optional arguments and {} unions", budget.tools, budget.optional, budget.unions)
    });
    (
        format!("is not offered strictly: {} allows {limits} across the strict tools of a request", rules.title),
        "select fewer tools, or set `strict` on the most important ones and `strict = false` on the others".to_owned(),
    )
}

impl SchemaLoss {
    fn kind(&self) -> &'static str {
        match self {
            Self::Moved(_) => "moved",
            Self::Map => "map",
            Self::Any => "any",
            Self::Recursive(_) => "recursive",
            Self::Tuple => "tuple",
            Self::AllOf => "all-of",
            Self::UnknownReference(_) => "unknown-reference",
            Self::TooLarge => "too-large",
            Self::Depth(_) => "depth",
            Self::Properties(_) => "properties",
            Self::EnumValues(_) => "enum-values",
        }
    }

    /// Returns the message and the suggested fix.
    fn words(&self, title: &str) -> (String, String) {
        let (message, remedy) = match self {
            Self::Moved(keyword) => (
                format!("`{}` is in the description, because {title} does not support it", keyword.text()),
                "none needed: it is checked when the tool is called",
            ),
            Self::Map => (
                format!("{title} does not support maps with arbitrary keys"),
                "use a list of key-value pairs, or a struct",
            ),
            Self::Any => (
                format!("{title} does not support values of any type"),
                "derive `JsonSchema` for its type, or describe it in `arguments(..)`",
            ),
            Self::Recursive(name) => (
                format!("`{name}` is recursive, which {title} does not support"),
                "use a list of nodes that refer to each other by index",
            ),
            Self::Tuple => (
                format!("the type of each position is in the description, because {title} does not support tuples"),
                "use a struct with named fields",
            ),
            Self::AllOf => (format!("{title} does not support `allOf`"), "write one schema"),
            Self::UnknownReference(reference) => (
                format!("`{reference}` has no definition, so any value is accepted"),
                "add the definition to the tool's `$defs`",
            ),
            Self::TooLarge => (
                "its types stay behind references, which not every model resolves: inlined they would be too large"
                    .to_owned(),
                "use fewer nested types",
            ),
            Self::Depth(depth) => (format!("has {depth} levels, more than {title} allows"), "nest less"),
            Self::Properties(count) => (format!("has {count} properties, more than {title} allows"), "split the tool"),
            Self::EnumValues(count) => (
                format!("has {count} enum values, more than {title} allows"),
                "use a string and check it in the handler",
            ),
        };
        (message, remedy.to_owned())
    }
}
