//! What a form cannot say of a set of tools, and which limits they exceed.

use std::fmt;

use tool_model::ToolDefinition;

use crate::Form;
use crate::plan::{self, Planned, Written};
use crate::rules::Rules;
use crate::schema::{Loss, Losses};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// The model is told in words instead of by the schema.
    Note,
    /// The provider is told less than the tool says.
    Loss,
    /// The provider refuses the request, or may.
    Limit,
}

/// One thing that a form cannot say, or a limit that is exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// What it is, in a word: `moved`, `map`, `any`, `recursive`, `too-many-tools`, ….
    pub kind: &'static str,
    /// The tool by the name it is offered under; empty where it concerns them all.
    pub tool: String,
    /// The place in the tool's arguments, such as `order.items[].sku`; empty where it concerns the whole tool.
    pub path: String,
    /// What is the matter; it goes on from the name of the tool.
    pub message: String,
    /// What can be done.
    pub remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.tool.as_str(), self.path.as_str()) {
            ("", _) => write!(f, "{}", self.message)?,
            (tool, "") => write!(f, "`{tool}` {}", self.message)?,
            (tool, path) => write!(f, "`{tool}` {path}: {}", self.message)?,
        }
        write!(f, " ({})", self.remedy)
    }
}

/// Everything that a form cannot say of a set of tools, and the limits that they exceed.
///
/// ```
/// use tool_dialect::{Dialect, Level};
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
/// assert_eq!((found.level, found.kind, found.path.as_str()), (Level::Loss, "map", "labels"));
/// # Ok::<(), tool_model::ManifestError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What was found: first what concerns all tools, then tool by tool.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether everything can be said, and no limit is exceeded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// The findings of a level and above.
    pub fn at_least(&self, level: Level) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.level >= level)
    }

    fn add(&mut self, level: Level, kind: &'static str, tool: &str, path: &str, (message, remedy): (String, String)) {
        let (tool, path) = (tool.to_owned(), path.to_owned());
        self.findings.push(Finding { level, kind, tool, path, message, remedy });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))
    }
}

impl Form {
    /// What this form cannot say of the tools, and which of the provider's limits they exceed. It never fails: tools
    /// that [`offer`](Form::offer) would refuse are in the report.
    #[must_use]
    pub fn report<'a>(self, tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>) -> Report {
        let rules = self.dialect.rules();
        let (planned, clashes) = plan::plan(self, tools);
        let mut report = Report::default();
        for clash in clashes {
            let remedy = "rename one of them with `name = \"..\"`, or in the selection".to_owned();
            let words = (format!("and `{}` are both `{}` to {}", clash.tools[1], clash.encoded, rules.title), remedy);
            report.add(Level::Limit, "name-clash", &clash.tools[0], "", words);
        }
        too_many_tools(&mut report, rules, planned.len());
        no_strict_mode(&mut report, rules, self);
        for (tool, written) in planned.iter().zip(plan::write::<Losses>(self, &planned)) {
            names(&mut report, rules, tool);
            description(&mut report, rules, tool);
            schema(&mut report, rules, tool, &written);
        }
        report
    }
}

/// Providers refuse the whole request, not the tools that are too many.
fn too_many_tools(report: &mut Report, rules: &Rules, count: usize) {
    if let Some(most) = rules.most_tools.filter(|most| count > *most) {
        let remedy = "select fewer of them, or let the model search for them".to_owned();
        let message = format!("{count} tools are offered, {} takes {most}", rules.title);
        report.add(Level::Limit, "too-many-tools", "", "", (message, remedy));
    }
}

fn no_strict_mode(report: &mut Report, rules: &Rules, form: Form) {
    if form.strict && rules.strict.is_none() {
        let message = format!("{} has no strict mode: no schema is enforced by the provider", rules.title);
        let remedy = "leave strict mode off; arguments are checked at the call".to_owned();
        report.add(Level::Loss, "no-strict-mode", "", "", (message, remedy));
    }
}

/// A name that had to be shortened or changed beyond its dots tells the model less.
fn names(report: &mut Report, rules: &Rules, tool: &Planned<'_>) {
    if tool.name.replace('.', "__") != *tool.encoded && tool.name != tool.encoded {
        let longest = rules.tool_names.longest;
        let words = (
            format!(
                "is called `{}` by {}, whose names have at most {longest} letters, digits, `_` and `-`",
                tool.encoded, rules.title
            ),
            "shorten or change `name = \"..\"` or `prefix = \"..\"`".to_owned(),
        );
        report.add(Level::Loss, "name", tool.name, "", words);
    }
    for (own, other) in &tool.renamed {
        let message = format!("is called `{other}` by {}, which does not take its own name", rules.title);
        let remedy = "none needed, calls are read back; `#[arg(rename = \"..\")]` gives it another name".to_owned();
        report.add(Level::Note, "argument-name", tool.name, own, (message, remedy));
    }
}

fn description(report: &mut Report, rules: &Rules, tool: &Planned<'_>) {
    if rules.described && tool.tool.description.trim().is_empty() {
        let message = format!("has no description, which {} asks for", rules.title);
        let remedy = "say what it does in a doc comment, or in `description = \"..\"`".to_owned();
        report.add(Level::Limit, "no-description", tool.name, "", (message, remedy));
    }
}

fn schema(report: &mut Report, rules: &Rules, tool: &Planned<'_>, written: &Written<Losses>) {
    if let Some(attempt) = &written.attempt {
        let obstacles = attempt.notes.found.iter().filter(|(_, loss)| loss.forbids_strict());
        for (path, loss) in obstacles {
            let (message, remedy) = loss.words(rules.title);
            let message = format!("{message}, so the tool is not offered strictly");
            let remedy = format!("{remedy}; `strict = false` says that it need not be");
            report.add(Level::Loss, loss.kind(), tool.name, path, (message, remedy));
        }
        if !attempt.refused {
            report.add(Level::Loss, "strict-budget", tool.name, "", over_budget(rules));
        }
    }
    for (path, loss) in &written.definition.notes.found {
        let level = if matches!(loss, Loss::Moved(_) | Loss::Tuple) { Level::Note } else { Level::Loss };
        report.add(level, loss.kind(), tool.name, path, loss.words(rules.title));
    }
}

fn over_budget(rules: &Rules) -> (String, String) {
    let budget = rules.strict.as_ref().and_then(|strict| strict.budget);
    let limits = budget.map_or_else(String::new, |budget| {
        format!("{} tools, {} optional arguments and {} unions", budget.tools, budget.optional, budget.unions)
    });
    (
        format!("is not offered strictly: {} takes {limits} in all strict tools of a request", rules.title),
        "select fewer tools, or say `strict` on those that need it most and `strict = false` on the others".to_owned(),
    )
}

impl Loss {
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

    /// What is the matter, and what can be done.
    fn words(&self, title: &str) -> (String, String) {
        let (message, remedy) = match self {
            Self::Moved(keyword) => (
                format!("`{}` stands in the description, since {title} does not read it", keyword.text()),
                "none needed: it is checked at the call",
            ),
            Self::Map => (
                format!("a map, whose keys are free, cannot be said to {title}"),
                "take a list of keys and values instead, or a struct",
            ),
            Self::Any => (
                format!("a value of any form cannot be said to {title}"),
                "derive `JsonSchema` for its type, or say what it takes in `arguments(..)`",
            ),
            Self::Recursive(name) => (
                format!("`{name}` contains itself, which cannot be said to {title}"),
                "take a list of nodes that refer to each other by number",
            ),
            Self::Tuple => (
                format!("what stands at which place is in the description, since {title} does not read it"),
                "take a struct with a name for each part",
            ),
            Self::AllOf => (format!("schemas that hold together cannot be said to {title}"), "write one schema"),
            Self::UnknownReference(reference) => (
                format!("`{reference}` leads nowhere, so that any value seems to fit"),
                "put the definition under the tool's `$defs`",
            ),
            Self::TooLarge => (
                "its types stay behind references, which not every model follows: written out they are too large"
                    .to_owned(),
                "take fewer types that contain each other",
            ),
            Self::Depth(depth) => (format!("has {depth} levels, more than {title} takes"), "nest less"),
            Self::Properties(count) => (format!("has {count} properties, more than {title} takes"), "split the tool"),
            Self::EnumValues(count) => {
                (format!("has {count} values to choose from, more than {title} takes"), "take a string and check it")
            }
        };
        (message, remedy.to_owned())
    }
}
