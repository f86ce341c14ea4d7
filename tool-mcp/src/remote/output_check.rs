//! Validation of results against the tool's output schema.

use std::collections::BTreeMap;

use serde_json::Value;
use tool_model::validate::Validator;
use tool_runtime::arguments::ArgumentError;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

/// The most violations that are reported.
const MAX_VIOLATIONS: usize = 5;

/// The check of a tool's structured results.
pub(super) struct OutputCheck {
    schema: Validator,
}

impl OutputCheck {
    /// Creates a check of everything in a schema that can be checked. Returns `None` for a schema that only refers to
    /// itself.
    pub(super) fn new(schema: &Value) -> Option<Self> {
        let (schema, _unsupported) = Validator::as_far_as_possible(schema, &BTreeMap::new()).ok()?;
        Some(Self { schema })
    }

    /// Describes the violations of structured content, or returns `None` if there are none.
    pub(super) fn mismatch(&self, structured: Option<&Value>) -> Option<String> {
        let Some(structured) = structured else { return Some("- structured content is missing".to_owned()) };
        if self.schema.is_valid(structured) {
            return None;
        }
        let mut violations = self.schema.check_first(MAX_VIOLATIONS + 1, structured, "");
        let has_more = violations.len() > MAX_VIOLATIONS;
        violations.truncate(MAX_VIOLATIONS);
        let errors = violations.into_iter().map(ArgumentError::from);
        let mut lines: Vec<String> = errors.map(|error| format!("- {error}")).collect();
        if has_more {
            lines.push("- and more".to_owned());
        }
        Some(lines.join("\n"))
    }
}

/// Returns the failure for a result that violates the output schema. The tool has run, so the message for the model
/// includes the output. The structured content is dropped, because programs rely on its schema.
pub(super) fn mismatch_failure(server: &str, tool: &str, why: &str, result: &ToolResult) -> ToolResult {
    let message = format!(
        "`{tool}` of the server `{server}` ran, but its result does not match its output schema:\n{why}\n\
         Its output was:\n{}",
        result.output
    );
    ToolResult::failure(ToolError::new(ErrorKind::Failed, message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reports_a_limited_number_of_violations() {
        let schema = json!({
            "type": "object", "required": ["a"], "additionalProperties": {"type": "integer"},
            "properties": {"a": {"type": "string"}},
        });
        let check = OutputCheck::new(&schema).unwrap();
        assert_eq!(check.mismatch(Some(&json!({"a": "x", "b": 1}))), None);
        assert_eq!(check.mismatch(None).unwrap(), "- structured content is missing");
        assert_eq!(check.mismatch(Some(&json!([]))).unwrap(), "- got [], expected object with `a`");
        let many = json!({"b": "1", "c": "2", "d": "3", "e": "4", "f": "5"});
        let reported = check.mismatch(Some(&many)).unwrap();
        assert!(
            reported.starts_with("- `a`: missing, expected string\n- `b`: got \"1\", expected integer"),
            "{reported}"
        );
        assert!(reported.ends_with("- and more"), "{reported}");
    }

    #[test]
    fn ignores_what_cannot_be_checked() {
        let circle = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
        assert!(OutputCheck::new(&circle).is_none());
        let far = json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/schema.json"}}});
        let check = OutputCheck::new(&far).unwrap();
        assert_eq!(check.mismatch(Some(&json!({"a": 1}))), None);
        assert!(check.mismatch(Some(&json!("text"))).is_some(), "the rest is checked");
    }
}
