//! The lint rules. A rule looks at one tool, or at all of them together.

use std::collections::BTreeSet;

use tool_dialect::{Dialect, DialectForm, LossLevel};
use tool_model::{Manifest, ToolDefinition};

use super::{LintFinding, LintLevel};

/// The longest description that providers accept.
const LONGEST_DESCRIPTION: usize = 1_024;

/// The rules that look at one tool.
const TOOL_RULES: [ToolRule; 6] = [
    tool_is_documented,
    tool_is_current,
    destruction_is_declared,
    descriptions_are_short,
    arguments_are_documented,
    arguments_have_types,
];

/// Words in names of tools that destroy something.
const DESTRUCTIVE_WORDS: [&str; 14] = [
    "ban",
    "delete",
    "destroy",
    "drop",
    "erase",
    "kill",
    "purge",
    "remove",
    "reset",
    "revoke",
    "truncate",
    "uninstall",
    "wipe",
    "terminate",
];

/// Returns the findings of all rules, in the order of the tools. `for_tests` are the tools that are documented as such.
pub(super) fn findings(manifest: &Manifest, for_tests: &BTreeSet<String>) -> Vec<LintFinding> {
    let mut found = Vec::new();
    for (name, tool) in manifest.iter() {
        let mut report = ToolReport { tool: name, found: &mut found };
        TOOL_RULES.iter().for_each(|rule| rule(&mut report, tool));
        if for_tests.contains(name) {
            let message = "is offered to models, but its documentation says that it is for tests".to_owned();
            let help = "exclude it with `#[tool(skip)]`, or reword its documentation";
            report.add(LintLevel::Warning, "test-tool", "", message, help);
        }
    }
    names_are_portable(manifest, &mut found);
    found
}

type ToolRule = fn(&mut ToolReport<'_>, &ToolDefinition);

/// Collects the findings of one tool.
struct ToolReport<'a> {
    tool: &'a str,
    found: &'a mut Vec<LintFinding>,
}

impl ToolReport<'_> {
    fn add(&mut self, severity: LintLevel, rule: &'static str, path: &str, message: String, help: &str) {
        self.found.push(LintFinding {
            severity,
            rule,
            tool: self.tool.to_owned(),
            path: path.to_owned(),
            message,
            help: help.to_owned(),
            place: None,
        });
    }
}

/// The description is most of what a model knows when it chooses a tool.
fn tool_is_documented(report: &mut ToolReport<'_>, tool: &ToolDefinition) {
    if tool.description.trim().is_empty() {
        let help = "describe it in a doc comment, or with `description = \"..\"`";
        report.add(LintLevel::Warning, "undocumented-tool", "", "has no description".to_owned(), help);
    }
}

/// A deprecated tool still takes tokens in every request.
fn tool_is_current(report: &mut ToolReport<'_>, tool: &ToolDefinition) {
    if let Some(reason) = &tool.deprecated {
        let help = "remove it, or exclude it from the selection for models, once it has no callers";
        report.add(LintLevel::Warning, "deprecated-tool", "", format!("is deprecated: {reason}"), help);
    }
}

/// A tool that destroys something runs without approval unless it says so. `read_only` says that it does not.
fn destruction_is_declared(report: &mut ToolReport<'_>, tool: &ToolDefinition) {
    if tool.destructive || tool.sensitive || tool.read_only {
        return;
    }
    let mut words = report.tool.split(|sign: char| !sign.is_alphanumeric()).map(str::to_lowercase);
    if let Some(word) = words.find(|word| DESTRUCTIVE_WORDS.contains(&word.as_str())) {
        let message = format!("is neither `destructive` nor `sensitive`, but its name says `{word}`");
        let help = "mark it `destructive`, so that a user is asked first; `destructive, sensitive = false` if not";
        report.add(LintLevel::Warning, "undeclared-destruction", "", message, help);
    }
}

/// Some providers reject a long description, others cut it.
fn descriptions_are_short(report: &mut ToolReport<'_>, tool: &ToolDefinition) {
    let own = ("".to_owned(), tool.description.as_str());
    let of_arguments = tool
        .arguments
        .iter()
        .map(|(name, argument)| (format!("arguments.{name}"), argument.description.as_deref().unwrap_or_default()));
    for (path, text) in std::iter::once(own).chain(of_arguments) {
        let length = text.chars().count();
        if length > LONGEST_DESCRIPTION {
            let message = format!("has a description of {length} characters; providers accept {LONGEST_DESCRIPTION}");
            let help = "keep the first paragraph short, and move the rest to `instructions = \"..\"`";
            report.add(LintLevel::Warning, "long-description", &path, message, help);
        }
    }
}

/// A model guesses what an argument without a description means.
fn arguments_are_documented(report: &mut ToolReport<'_>, tool: &ToolDefinition) {
    for (name, argument) in &tool.arguments {
        if argument.description.as_ref().is_none_or(|text| text.trim().is_empty()) {
            let help = "add a doc comment to the parameter, or a line under `# Arguments`";
            let path = format!("arguments.{name}");
            report.add(LintLevel::Warning, "undocumented-argument", &path, "has no description".to_owned(), help);
        }
    }
}

/// An argument of any type is not checked before the call, and gives the model no guidance.
fn arguments_have_types(report: &mut ToolReport<'_>, tool: &ToolDefinition) {
    for (name, _) in tool.arguments.iter().filter(|(_, argument)| argument.is_any()) {
        let help = "derive `JsonSchema` for its type, or describe it in `arguments(..)`; if any value is intended, `#[arg(any)]`";
        let message = "has no type".to_owned();
        report.add(LintLevel::Warning, "any-argument", &format!("arguments.{name}"), message, help);
    }
}

/// Providers accept few characters in a name, and short names only. Dots are replaced and other names changed further,
/// so that two names may become equal. Chat Completions is the strictest.
fn names_are_portable(manifest: &Manifest, found: &mut Vec<LintFinding>) {
    let report = Dialect::OpenAiChat.report(manifest.iter());
    for finding in report.findings.into_iter().filter(|finding| matches!(finding.kind, "name" | "name-clash")) {
        let severity = if finding.level == LossLevel::Limit { LintLevel::Error } else { LintLevel::Warning };
        ToolReport { tool: &finding.tool, found }.add(severity, "name", "", finding.message, &finding.remedy);
    }
}

/// Returns the loss report of a provider's format as findings.
pub(super) fn dialect_findings(dialect: Dialect, strict: bool, manifest: &Manifest) -> Vec<LintFinding> {
    let report = DialectForm { dialect, strict }.report(manifest.iter());
    let finding = |found: tool_dialect::LossFinding| LintFinding {
        severity: match found.level {
            LossLevel::Limit => LintLevel::Error,
            LossLevel::Note => LintLevel::Note,
            _ => LintLevel::Warning,
        },
        rule: found.kind,
        tool: found.tool,
        path: if found.path.is_empty() { String::new() } else { format!("arguments.{}", found.path) },
        message: format!("for {dialect}: {}", found.message),
        help: found.remedy,
        place: None,
    };
    report.findings.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules(tools: Value) -> Vec<String> {
        let manifest = serde_json::from_value(tools).unwrap();
        findings(&manifest, &BTreeSet::from(["for.tests".to_owned()]))
            .iter()
            .map(|found| format!("{} {} {}", found.rule, found.tool, found.path))
            .collect()
    }

    fn tool(description: &str, arguments: Value) -> Value {
        json!({"description": description, "handler": "h", "arguments": arguments})
    }

    #[test]
    fn accepts_a_documented_tool() {
        let argument = json!({"host": {"type": "string", "required": true, "description": "The host."}});
        assert!(rules(json!({"metrics.newest": tool("The newest points.", argument)})).is_empty());
    }

    #[test]
    fn each_rule_has_its_finding() {
        let arguments = json!({"x": {"type": "any", "description": "Something."}, "y": {"type": "string"}});
        assert_eq!(
            rules(json!({"a": tool(" ", arguments)})),
            ["undocumented-tool a ", "undocumented-argument a arguments.y", "any-argument a arguments.x"]
        );
        let deprecated = json!({"description": "Old.", "handler": "h", "arguments": {}, "deprecated": "use `b`"});
        assert_eq!(rules(json!({"a": deprecated})), ["deprecated-tool a "]);
        assert_eq!(rules(json!({"a": tool(&"x".repeat(1_025), json!({}))})), ["long-description a "]);
        assert!(rules(json!({"a": tool(&"x".repeat(1_024), json!({}))})).is_empty());
    }

    #[test]
    fn finds_destruction_that_is_not_declared() {
        let flagged = |name: &str| rules(json!({name: tool("Does it.", json!({}))}));
        for name in ["db.reset_database", "users.delete_all", "ban", "kill-process", "Drop_Table"] {
            assert_eq!(flagged(name), [format!("undeclared-destruction {name} ")]);
        }
        for name in ["presets.list", "dropdown.show", "banner", "skills", "removed_users"] {
            assert!(flagged(name).is_empty(), "{name}");
        }
        for key in ["destructive", "sensitive", "read_only"] {
            let declared = json!({"description": "Does it.", "handler": "h", "arguments": {}, key: true});
            assert!(rules(json!({"users.delete": declared})).is_empty(), "{key}");
        }
    }

    #[test]
    fn finds_tools_for_tests() {
        assert_eq!(rules(json!({"for.tests": tool("Does it.", json!({}))})), ["test-tool for.tests "]);
    }

    #[test]
    fn checks_names_for_every_provider() {
        let named = |name: &str| rules(json!({name: tool("Does it.", json!({}))})).len();
        assert_eq!(named(&"x".repeat(64)), 0);
        assert_eq!(named(&"x".repeat(65)), 1);
        assert_eq!(named(&format!("{}.y", "x".repeat(61))), 0);
        assert_eq!(named(&format!("{}.y", "x".repeat(62))), 1, "a dot becomes two characters");
        assert_eq!(named("größe"), 1);
        assert_eq!(named("9lives"), 1);
        assert_eq!(rules(json!({"a.b": tool("One.", json!({})), "a__b": tool("Two.", json!({}))})), ["name a.b "]);
    }
}
