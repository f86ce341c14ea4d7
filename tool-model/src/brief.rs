//! One-line summaries of tools.

use serde_json::Value;

use crate::{Argument, KEYS, Key, ToolDefinition, canonical, reference_target};

/// The number of values or alternatives shown.
const LONGEST_LIST: usize = 4;

/// Returns a tool on one line: `metrics.newest(host: string, limit?: integer = 10): The newest points of one host.`
///
/// ```
/// use tool_model::{Argument, ToolDefinition, brief};
///
/// let mut tool = ToolDefinition::default();
/// tool.description = "The newest points\n  of one host.".to_owned();
/// tool.arguments.insert("host".to_owned(), Argument::new("string", true));
/// assert_eq!(brief("metrics.newest", &tool), "metrics.newest(host: string): The newest points of one host.");
/// ```
#[must_use]
pub fn brief(name: &str, tool: &ToolDefinition) -> String {
    let description = tool.full_description();
    let words: Vec<&str> = description.split_whitespace().collect();
    let description = if words.is_empty() { String::new() } else { format!(": {}", words.join(" ")) };
    format!("{name}({}){description}", brief_arguments(tool).join(", "))
}

/// Returns a short form of each argument, required ones first: `host: string`, `limit?: integer = 10`.
#[must_use]
pub fn brief_arguments(tool: &ToolDefinition) -> Vec<String> {
    let (required, optional): (Vec<_>, Vec<_>) = tool.arguments.iter().partition(|(_, argument)| argument.required);
    let each = required.into_iter().chain(optional).map(|(name, argument)| {
        let mark = if argument.required { "" } else { "?" };
        let default = argument.keywords.get("default").map(|value| format!(" = {}", cut(&canonical(value), 20)));
        format!("{name}{mark}: {}{}", type_of(argument), default.unwrap_or_default())
    });
    each.collect()
}

/// Returns the short form of an argument's type.
fn type_of(argument: &Argument) -> String {
    schema_type(&argument.schema(), 0)
}

fn schema_type(schema: &Value, depth: usize) -> String {
    if depth > 6 {
        return "…".to_owned();
    }
    if let Some(name) = reference_target(schema) {
        return name.into_owned();
    }
    let values = schema["enum"].as_array().cloned().or_else(|| Some(vec![schema.get("const")?.clone()]));
    if let Some(values) = values {
        return list(values.iter().map(|value| cut(&canonical(value), 20)));
    }
    if let Some(forms) = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].as_array()) {
        return list(forms.iter().map(|form| schema_type(form, depth + 1)));
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => match schema.get("items") {
            Some(items) => format!("[{}]", schema_type(items, depth + 1)),
            None => "array".to_owned(),
        },
        Value::String(name) if name == "object" => match schema.get("additionalProperties").filter(|s| s.is_object()) {
            Some(values) => format!("{{{}}}", schema_type(values, depth + 1)),
            None => "object".to_owned(),
        },
        Value::String(name) => schema["format"].as_str().unwrap_or(name).to_owned(),
        Value::Array(names) => list(names.iter().filter_map(Value::as_str).map(str::to_owned)),
        _ => "any".to_owned(),
    }
}

fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match words.split_at_checked(LONGEST_LIST) {
        Some((shown, rest)) if !rest.is_empty() => format!("{}|…", shown.join("|")),
        _ => words.join("|"),
    }
}

/// Truncates a text.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Returns the flags, choices and limits that are set on a tool: `sensitive`, `read-only`, `5s`.
#[must_use]
pub fn flags(tool: &ToolDefinition) -> Vec<String> {
    let is_shown = |key: &&Key| key.is_on(tool) || (key.notice.is_some() && key.get(tool).is_some());
    let flags = KEYS.iter().filter(is_shown).map(|key| key.name.replace('_', "-"));
    flags.chain(tool.timeout.map(|timeout| format!("{timeout:?}"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn short(argument: Value) -> String {
        let tool = json!({"description": "", "handler": "h", "arguments": {"x": argument}});
        brief_arguments(&serde_json::from_value(tool).expect("a tool")).join(", ")
    }

    #[test]
    fn shortens_types() {
        for (argument, expected) in [
            (json!({"type": "string", "required": true}), "x: string"),
            (json!({"type": "integer", "default": 10}), "x?: integer = 10"),
            (json!({"type": "string", "format": "date-time"}), "x?: date-time"),
            (json!({"type": "string", "enum": ["a", "b"]}), r#"x?: "a"|"b""#),
            (json!({"type": "array", "items": {"$ref": "#/$defs/Order"}}), "x?: [Order]"),
            (json!({"type": "object", "additionalProperties": {"type": "number"}}), "x?: {number}"),
            (json!({"type": "any", "anyOf": [{"type": "string"}, {"type": "null"}]}), "x?: string|null"),
            (json!({"type": "any"}), "x?: any"),
        ] {
            assert_eq!(short(argument), expected);
        }
    }
}
