//! Contradictions between the settings of an argument and its type.
//!
//! `build()` reports them for a linked tool and the generator for a scanned one.

use serde_json::Value;

use crate::validate::{Received, Validator, Violation, is_plain};
use crate::{Argument, Rule, ToolDefinition};

/// A setting of an argument that its type contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// The name of the argument.
    pub argument: String,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub remedy: &'static str,
}

impl ArgumentProblem {
    fn new(argument: &str, message: String, remedy: &'static str) -> Self {
        Self { argument: argument.to_owned(), message, remedy }
    }
}

impl ToolDefinition {
    /// Returns the defaults that the schemas reject, because every call without the argument would fail, and the schemas
    /// that cannot be enforced.
    #[must_use]
    pub fn schema_problems(&self) -> Vec<ArgumentProblem> {
        let mut problems = Vec::new();
        let is_plain = is_plain(self);
        for (name, argument) in &self.arguments {
            let default = argument.keywords.get("default");
            if is_plain && default.is_none() {
                continue;
            }
            let validator = match Validator::new(&argument.schema(), &self.defs) {
                Ok(validator) => validator,
                Err(error) => {
                    let message = format!("the schema of `{name}` cannot be enforced: {error}");
                    problems.push(ArgumentProblem::new(name, message, "describe it otherwise"));
                    continue;
                }
            };
            let Some(default) = default else { continue };
            for violation in validator.check(default, name) {
                let message = format!("the default of `{name}` is invalid: {}", line(&violation));
                problems.push(ArgumentProblem::new(name, message, "give a default that the argument takes"));
            }
        }
        problems
    }

    /// Returns the problems of the rules of one argument: rules without effect, bounds that no value satisfies, and
    /// listed values that are invalid.
    #[must_use]
    pub fn rule_problems(&self, name: &str, rules: &[Rule]) -> Vec<ArgumentProblem> {
        let mut problems = Vec::new();
        let Some(argument) = self.arguments.get(name).filter(|_| !rules.is_empty()) else { return problems };
        for rule in rules.iter().filter(|rule| !rule.fits(&argument.type_name)) {
            let message =
                format!("`{}` has no effect on `{name}`, which is of type {}", rule.name(), argument.type_name);
            problems.push(ArgumentProblem::new(name, message, "remove it, or give the argument another type"));
        }
        check_bounds(name, argument, &mut problems);
        self.check_one_of(name, argument, rules, &mut problems);
        problems
    }

    /// Adds values of `one_of` that the type or another rule does not accept.
    fn check_one_of(&self, name: &str, argument: &Argument, rules: &[Rule], problems: &mut Vec<ArgumentProblem>) {
        let listed = rules.iter().filter_map(|rule| match rule {
            Rule::OneOf(values) => serde_json::from_str::<Vec<Value>>(values).ok(),
            _ => None,
        });
        let listed: Vec<Value> = listed.flatten().collect();
        if listed.is_empty() {
            return;
        }
        let Ok(validator) = Validator::new(&argument.schema(), &self.defs) else { return };
        for violation in listed.iter().flat_map(|value| validator.check(value, name)) {
            let message = format!("`one_of` of `{name}` lists an invalid value: {}", line(&violation));
            problems.push(ArgumentProblem::new(name, message, "list values that the argument takes"));
        }
    }
}

/// Adds contradictory bounds, including those of the type, because they make the tool uncallable.
fn check_bounds(name: &str, argument: &Argument, problems: &mut Vec<ArgumentProblem>) {
    const BOUNDS: [(&str, &str); 4] = [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ];
    for (least, most) in BOUNDS {
        let (Some(from), Some(to)) = (argument.keywords.get(least), argument.keywords.get(most)) else { continue };
        if from.as_f64().zip(to.as_f64()).is_some_and(|(from, to)| from > to) {
            let message = format!("no value of `{name}` would be accepted: `{least}` is {from}, `{most}` is {to}");
            problems.push(ArgumentProblem::new(name, message, "give bounds that values of its type can keep"));
        }
    }
}

/// Formats a violation in one line. Settings are written in the source, so they are no secrets.
fn line(violation: &Violation) -> String {
    match &violation.received {
        Received::Value(value) => format!("`{}`: got {value}, expected {}", violation.path, violation.kind),
        _ => format!("`{}`: {}", violation.path, violation.kind),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Number;

    fn tool(argument: Value) -> ToolDefinition {
        serde_json::from_value(json!({"description": "", "handler": "h", "arguments": {"a": argument}})).unwrap()
    }

    #[test]
    fn finds_a_default_that_the_schema_rejects() {
        let problems = tool(json!({"type": "integer", "required": false, "default": "x"})).schema_problems();
        assert_eq!(problems[0].message, "the default of `a` is invalid: `a`: got \"x\", expected integer");
        assert!(tool(json!({"type": "integer", "required": false, "default": 1})).schema_problems().is_empty());
    }

    #[test]
    fn finds_rules_that_contradict_the_type() {
        let bounded = tool(json!({"type": "integer", "required": true, "minimum": 300, "maximum": 255}));
        let message = |tool: &ToolDefinition, rule| tool.rule_problems("a", &[rule])[0].message.clone();
        let expected = "no value of `a` would be accepted: `minimum` is 300, `maximum` is 255";
        assert_eq!(message(&bounded, Rule::Min(Number::Int(300))), expected);
        let plain = tool(json!({"type": "integer", "required": true}));
        assert_eq!(message(&plain, Rule::Pattern("x")), "`pattern` has no effect on `a`, which is of type integer");
        let expected = "`one_of` of `a` lists an invalid value: `a`: got \"x\", expected integer";
        assert_eq!(message(&plain, Rule::OneOf("[1, \"x\"]")), expected);
        assert!(plain.rule_problems("a", &[Rule::OneOf("[1]"), Rule::Min(Number::Int(0))]).is_empty());
    }
}
