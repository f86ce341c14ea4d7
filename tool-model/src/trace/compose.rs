//! Composition of schemas: what schemars does with `null` and with the keys of maps.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Returns `true` if the schema accepts values of a type.
#[must_use]
pub fn has_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|found| found == name),
        Some(found) => found == name,
        None => false,
    }
}

/// Returns `true` if keywords apply other schemas to the same value.
#[must_use]
pub fn is_composed(schema: &Map<String, Value>) -> bool {
    ["if", "allOf", "anyOf", "oneOf", "$ref"].iter().any(|key| schema.contains_key(*key))
}

/// Adds `null` to the schema, for an `Option` of the type.
pub fn allow_null(schema: &mut Value) {
    let Value::Object(object) = schema else {
        if *schema == Value::Bool(false) {
            *schema = json!({"type": "null"});
        }
        return;
    };
    let is_nullable =
        |forms: &Value| forms.as_array().is_some_and(|forms| forms.iter().any(|form| has_type(form, "null")));
    if object.len() == 1 && object.get("anyOf").is_some_and(is_nullable) {
        return;
    }
    if is_composed(object) {
        *schema = json!({"anyOf": [schema.take(), {"type": "null"}]});
        return;
    }
    match object.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&"null".into()) => types.push("null".into()),
        Some(Value::String(name)) if name != "null" => {
            let both = json!([name, "null"]);
            object.insert("type".into(), both);
        }
        _ => {}
    }
    if let Some(only) = object.remove("const") {
        if !only.is_null() {
            object.insert("enum".into(), json!([only, null]));
        }
    } else if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// Returns the schema of a map with this schema for its keys.
#[must_use]
pub fn map(keys: &Value, values: Value, definitions: &Map<String, Value>) -> Value {
    let options = match keys.get("anyOf").and_then(Value::as_array) {
        Some(forms) if forms.iter().all(Value::is_object) => forms.iter().collect(),
        _ => vec![keys],
    };
    if !keys.is_object() {
        return json!({"type": "object", "additionalProperties": values});
    }
    let mut names = BTreeSet::new();
    let mut patterns = BTreeSet::new();
    let (mut unsigned, mut signed, mut any) = (false, false, false);
    for option in options {
        let referred = crate::schema::target(option);
        let definition = referred.and_then(|name| definitions.get(&*name)).filter(|definition| definition.is_object());
        let option = definition.unwrap_or(option);
        let values = option.get("enum").and_then(Value::as_array);
        let values = values.and_then(|values| values.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        let pattern = option.get("pattern").and_then(Value::as_str);
        match (option.get("type").and_then(Value::as_str), pattern, values) {
            (Some("string"), Some(pattern), _) => {
                patterns.insert(pattern);
            }
            (Some("string"), None, Some(values)) => names.extend(values),
            (Some("integer"), ..) if option.get("minimum").and_then(Value::as_u64) == Some(0) => unsigned = true,
            (Some("integer"), ..) => signed = true,
            _ => any = true,
        }
    }
    if signed {
        patterns.insert(r"^-?\d+$");
    } else if unsigned {
        patterns.insert(r"^\d+$");
    }
    let each = |keys: BTreeSet<&str>| -> Value {
        Value::Object(keys.into_iter().map(|key| (key.to_owned(), values.clone())).collect())
    };
    let mut map = json!({"type": "object", "additionalProperties": if any { values.clone() } else { false.into() }});
    if !patterns.is_empty() {
        map["patternProperties"] = each(patterns);
    }
    if !names.is_empty() {
        map["properties"] = each(names);
    }
    map
}
