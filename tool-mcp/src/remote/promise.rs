//! What a server says beforehand of a tool's answers, and whether it keeps to it.

use std::collections::BTreeMap;

use serde_json::Value;
use tool_model::validate::Validator;
use tool_runtime::arguments::ArgumentError;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

/// How many things that are wrong are told; whoever has read these knows what the answer is worth.
const TOLD: usize = 5;

/// The schema of a tool's structured answers.
pub(super) struct Promise {
    schema: Validator,
}

impl Promise {
    /// What can be checked here is checked. A schema that only refers to itself promises nothing.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let (schema, _left_out) = Validator::as_far_as_possible(schema, &BTreeMap::new()).ok()?;
        Some(Self { schema })
    }

    /// What is wrong with the structured part of an answer, in words; nothing if nothing is.
    pub(super) fn broken_by(&self, structured: Option<&Value>) -> Option<String> {
        let Some(structured) = structured else { return Some("- it has no structured content".to_owned()) };
        if self.schema.is_valid(structured) {
            return None;
        }
        let mut violations = self.schema.check_first(TOLD + 1, structured, "");
        let has_more = violations.len() > TOLD;
        violations.truncate(TOLD);
        let errors = violations.into_iter().map(ArgumentError::from);
        let mut lines: Vec<String> = errors.map(|error| format!("- {error}")).collect();
        if has_more {
            lines.push("- and more".to_owned());
        }
        Some(lines.join("\n"))
    }
}

/// The result of a call whose answer is not what was promised. The tool has run, so that the model is told what it
/// said; but nothing of it stands where programs look for what keeps to the schema.
pub(super) fn broken(server: &str, tool: &str, why: &str, said: &ToolResult) -> ToolResult {
    let message = format!(
        "`{tool}` of the server `{server}` ran, but its answer is not what its output schema says:\n{why}\n\
         It answered:\n{}",
        said.output
    );
    ToolResult::failure(ToolError::new(ErrorKind::Failed, message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_told_up_to_a_point() {
        let schema = json!({
            "type": "object", "required": ["a"], "additionalProperties": {"type": "integer"},
            "properties": {"a": {"type": "string"}},
        });
        let promise = Promise::of(&schema).unwrap();
        assert_eq!(promise.broken_by(Some(&json!({"a": "x", "b": 1}))), None);
        assert_eq!(promise.broken_by(None).unwrap(), "- it has no structured content");
        assert_eq!(promise.broken_by(Some(&json!([]))).unwrap(), "- got [], expected object with `a`");
        let many = json!({"b": "1", "c": "2", "d": "3", "e": "4", "f": "5"});
        let told = promise.broken_by(Some(&many)).unwrap();
        assert!(told.starts_with("- `a`: missing, expected string\n- `b`: got \"1\", expected integer"), "{told}");
        assert!(told.ends_with("- and more"), "{told}");
    }

    #[test]
    fn what_cannot_be_checked_promises_nothing() {
        let circle = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
        assert!(Promise::of(&circle).is_none());
        let far = json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/schema.json"}}});
        let promise = Promise::of(&far).unwrap();
        assert_eq!(promise.broken_by(Some(&json!({"a": 1}))), None);
        assert!(promise.broken_by(Some(&json!("text"))).is_some(), "the rest is checked");
    }
}
