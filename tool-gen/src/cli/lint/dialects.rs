//! What a provider's form cannot say of the tools, and which of its limits they exceed.

use tool_dialect::{Dialect, Form, Level};
use tool_model::Manifest;

use super::{Finding, Severity};

/// The loss report of a form, as findings.
pub(super) fn findings(dialect: Dialect, strict: bool, manifest: &Manifest) -> Vec<Finding> {
    let report = Form { dialect, strict }.report(manifest.iter());
    let finding = |found: tool_dialect::Finding| Finding {
        severity: match found.level {
            Level::Limit => Severity::Error,
            Level::Note => Severity::Note,
            _ => Severity::Warning,
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
