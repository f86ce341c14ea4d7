//! A cheap test for schemas that the validator can always enforce.
//!
//! Nearly all schemas consist of a few keywords with valid values. This test takes a hundredth of the time of parsing the
//! schema, and a program with thousands of tools runs it for all of them at start-up.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::ToolDefinition;

/// The depth of nesting up to which a schema is looked at. Deeper ones are left to the parser, which has its own limit.
const DEEPEST: usize = 32;

/// Returns `true` if the schemas of all arguments use only keywords that can always be enforced, so that
/// [`Validator::new`](super::Validator::new) accepts them. It may accept others, too.
#[must_use]
pub fn is_plain(tool: &ToolDefinition) -> bool {
    let plain = |key: &String, value| is_plain_keyword(key, value, &tool.defs, 0);
    tool.arguments.values().all(|argument| {
        (argument.type_name == "any" || is_type(&argument.type_name))
            && argument.keywords.iter().all(|(key, value)| plain(key, value))
    }) && tool.defs.values().all(|def| is_structure(def) && is_plain_schema(def, &tool.defs, 0))
}

/// Returns `false` for a definition that is a reference itself: it might refer to itself.
fn is_structure(def: &Value) -> bool {
    ["$ref", "anyOf", "oneOf"].iter().all(|key| def.get(key).is_none())
}

fn is_plain_schema(schema: &Value, defs: &BTreeMap<String, Value>, depth: usize) -> bool {
    match schema {
        Value::Object(object) => {
            depth < DEEPEST && object.iter().all(|(key, value)| is_plain_keyword(key, value, defs, depth))
        }
        other => other.is_boolean(),
    }
}

fn is_plain_keyword(key: &str, value: &Value, defs: &BTreeMap<String, Value>, depth: usize) -> bool {
    let is_plain = |schema: &Value| is_plain_schema(schema, defs, depth + 1);
    match (key, value) {
        ("description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly", _) => true,
        ("type", Value::String(name)) => is_type(name),
        ("type", Value::Array(names)) => {
            !names.is_empty() && names.iter().all(|name| name.as_str().is_some_and(is_type))
        }
        ("enum" | "const", Value::Array(_)) | ("const", _) => true,
        ("minimum" | "maximum", Value::Number(_)) => true,
        ("minLength" | "maxLength" | "minItems" | "maxItems", Value::Number(count)) => count.is_u64(),
        ("format", Value::String(_)) | ("uniqueItems", Value::Bool(_)) => true,
        ("required", Value::Array(names)) => names.iter().all(Value::is_string),
        ("items" | "additionalProperties", schema) => is_plain(schema),
        ("properties", Value::Object(schemas)) => schemas.values().all(is_plain),
        ("anyOf" | "oneOf", Value::Array(forms)) => !forms.is_empty() && forms.iter().all(is_plain),
        ("$ref", Value::String(reference)) => {
            // A name with escapes is left to the parser.
            reference
                .strip_prefix("#/$defs/")
                .is_some_and(|name| !name.contains(['/', '%', '~']) && defs.contains_key(name))
        }
        _ => false,
    }
}

fn is_type(name: &str) -> bool {
    matches!(name, "string" | "integer" | "number" | "boolean" | "array" | "object" | "null")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Validator;
    use super::*;

    fn tool(schema: Value, defs: Value) -> ToolDefinition {
        let text = json!({"description": "", "handler": "", "arguments": {"it": schema}, "$defs": defs});
        serde_json::from_value(text).expect("a tool")
    }

    fn is_enforced(tool: &ToolDefinition) -> bool {
        Validator::new(&tool.arguments["it"].schema(), &tool.defs).is_ok()
    }

    #[test]
    fn plain_schemas_are_enforced() {
        let defs = json!({
            "Order": {"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}}, "required": ["items"]},
            "Item": {"type": "object", "properties": {"sku": {"type": "string", "minLength": 1}, "order": {"anyOf": [{"$ref": "#/$defs/Order"}, {"type": "null"}]}}},
        });
        for schema in [
            json!({"type": "object", "$ref": "#/$defs/Order"}),
            json!({"type": "integer", "minimum": 1, "maximum": 2.5, "default": 3}),
            json!({"type": "any", "anyOf": [{"type": ["string", "null"], "format": "date"}, {"enum": [1, 2]}]}),
            json!({"type": "object", "additionalProperties": {"type": "array", "uniqueItems": true, "maxItems": 3}}),
            json!({}),
        ] {
            let tool = tool(schema.clone(), defs.clone());
            assert!(is_plain(&tool) && is_enforced(&tool), "{schema}");
        }
    }

    #[test]
    fn schemas_that_cannot_be_enforced_are_not_plain() {
        for (schema, defs) in [
            (json!({"type": "text"}), json!({})),
            (json!({"type": "string", "pattern": "("}), json!({})),
            (json!({"type": "object", "$ref": "#/$defs/Gone"}), json!({})),
            (json!({"type": "object", "$ref": "#/$defs/A"}), json!({"A": {"$ref": "#/$defs/A"}})),
            (json!({"type": "object", "$ref": "#/$defs/A"}), json!({"A": {"anyOf": [{"$ref": "#/$defs/A"}]}})),
            (json!({"type": "array", "items": 1}), json!({})),
            (json!({"type": "array", "minItems": -1}), json!({})),
            (json!({"type": "any", "anyOf": []}), json!({})),
            (json!({"type": "array", "unevaluatedItems": false}), json!({})),
            (json!({"type": "object", "properties": {"a": {"minimum": "1"}}}), json!({})),
        ] {
            let tool = tool(schema.clone(), defs);
            assert!(!is_plain(&tool) && !is_enforced(&tool), "{schema}");
        }
    }
}
