//! Arguments without their secrets.

use std::collections::BTreeMap;

use serde_json::Value;
use tool_model::ToolDefinition;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[secret]";

/// Schemas nest less deeply than that; one that refers to itself does not.
const DEPTH: usize = 64;

/// Arguments for records and logs: [`REDACTED`] in the place of each value that the definition marks as secret.
///
/// That is an argument with `#[arg(secret)]`, and inside arguments whatever has `writeOnly` in its schema, such as a
/// field with `#[serde(skip_serializing)]`. Where a schema offers several forms, what is secret in one is left out.
#[must_use]
pub fn redact(definition: &ToolDefinition, arguments: &Value) -> Value {
    let mut redacted = arguments.clone();
    let Value::Object(values) = &mut redacted else { return redacted };
    for (name, argument) in &definition.arguments {
        if let Some(value) = values.get_mut(name) {
            hide(&|keyword| argument.keywords.get(keyword), value, &definition.defs, 0);
        }
    }
    redacted
}

type Schema<'a> = dyn Fn(&str) -> Option<&'a Value> + 'a;

fn hide<'a>(schema: &Schema<'a>, value: &mut Value, defs: &'a BTreeMap<String, Value>, depth: usize) {
    if schema("writeOnly") == Some(&Value::Bool(true)) || depth > DEPTH {
        *value = REDACTED.into();
        return;
    }
    let hide_by = |schema: &'a Value, value: &mut Value| hide(&|keyword| schema.get(keyword), value, defs, depth + 1);

    if let Some(path) = schema("$ref").and_then(Value::as_str) {
        match path.strip_prefix("#/$defs/").and_then(|name| defs.get(name)) {
            Some(def) => hide_by(def, value),
            // What cannot be looked up may be secret.
            None => *value = REDACTED.into(),
        }
    }
    for forms in ["anyOf", "oneOf", "allOf"] {
        for form in schema(forms).and_then(Value::as_array).into_iter().flatten() {
            hide_by(form, value);
        }
    }
    match value {
        Value::Object(fields) => {
            let (named, others) = (schema("properties"), schema("additionalProperties"));
            for (name, field) in fields {
                if let Some(schema) = named.and_then(|named| named.get(name)).or(others) {
                    hide_by(schema, field);
                }
            }
        }
        Value::Array(elements) => {
            let (first, others) = (schema("prefixItems"), schema("items"));
            for (index, element) in elements.iter_mut().enumerate() {
                if let Some(schema) = first.and_then(|first| first.get(index)).or(others) {
                    hide_by(schema, element);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_model::Argument;

    use super::*;

    fn definition(arguments: Value, defs: Value) -> ToolDefinition {
        let mut definition = ToolDefinition::default();
        for (name, keywords) in arguments.as_object().unwrap() {
            let mut argument = Argument::new("any", true);
            argument.keywords = keywords.as_object().unwrap().clone().into_iter().collect();
            definition.arguments.insert(name.clone(), argument);
        }
        definition.defs = defs.as_object().unwrap().clone().into_iter().collect();
        definition
    }

    #[test]
    fn secret_arguments_are_left_out() {
        let tool = definition(json!({"user": {}, "password": {"writeOnly": true}}), json!({}));
        let redacted = redact(&tool, &json!({"user": "ann", "password": {"old": "a", "new": "b"}}));
        assert_eq!(redacted, json!({"user": "ann", "password": REDACTED}));
    }

    #[test]
    fn secrets_inside_arguments_are_left_out() {
        let tool = definition(
            json!({"logins": {"items": {"anyOf": [{"$ref": "#/$defs/Login"}, {"type": "null"}]}}}),
            json!({"Login": {"properties": {"user": {}, "key": {"writeOnly": true}}, "additionalProperties": false}}),
        );
        let redacted = redact(&tool, &json!({"logins": [{"user": "ann", "key": 1}, null]}));
        assert_eq!(redacted, json!({"logins": [{"user": "ann", "key": REDACTED}, null]}));
    }

    #[test]
    fn secrets_in_tuples_and_maps_are_left_out() {
        let secret = json!({"writeOnly": true});
        let tool = definition(
            json!({"pair": {"prefixItems": [{}, secret]}, "map": {"additionalProperties": secret}}),
            json!({}),
        );
        let redacted = redact(&tool, &json!({"pair": [1, 2], "map": {"a": 1}}));
        assert_eq!(redacted, json!({"pair": [1, REDACTED], "map": {"a": REDACTED}}));
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let tool = definition(json!({"a": {"$ref": "#/$defs/A"}}), json!({"A": {"$ref": "#/$defs/A"}}));
        assert_eq!(redact(&tool, &json!({"a": 1})), json!({"a": REDACTED}));
    }
}
