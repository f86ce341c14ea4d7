//! Composition of schemas: what schemars does with `null`, `flatten`, tags and properties.

use serde_json::{Map, Value, json};
use tool_model::trace::compose::is_composed;
pub(super) use tool_model::trace::compose::{allow_null, has_type, map};

/// Returns the schema as an object. `true` becomes an empty schema, `false` one that no value fits.
pub(super) fn object(schema: &mut Value) -> &mut Map<String, Value> {
    if !schema.is_object() {
        *schema = if *schema == Value::Bool(false) { json!({"not": {}}) } else { json!({}) };
    }
    match schema {
        Value::Object(object) => object,
        _ => unreachable!("it was just made an object"),
    }
}

pub(super) fn insert(schema: &mut Value, key: &str, value: impl Into<Value>) {
    object(schema).insert(key.to_owned(), value.into());
}

pub(super) fn insert_property(schema: &mut Value, name: &str, optional: bool, property: Value) {
    let object = object(schema);
    if let Some(properties) = object.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
        properties.insert(name.to_owned(), property);
    }
    if !optional && let Some(required) = object.entry("required").or_insert_with(|| json!([])).as_array_mut() {
        required.push(name.into());
    }
}

/// Returns the schema of an externally tagged variant.
pub(super) fn externally_tagged(name: &str, schema: Value) -> Value {
    json!({"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": false})
}

/// Adds the tag to the properties of a variant.
pub(super) fn tag_internally(schema: &mut Value, tag: &str, name: Value, deny_unknown: bool) {
    let is_unit = schema.get("type").is_some_and(|name| name == "null");
    let object = object(schema);
    object.insert("type".into(), "object".into());
    if let Some(properties) = object.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
        let fields = std::mem::take(properties);
        properties.insert(tag.to_owned(), name);
        properties.extend(fields.into_iter().filter(|(key, _)| key != tag));
    }
    if let Some(required) = object.entry("required").or_insert_with(|| json!([])).as_array_mut() {
        required.insert(0, tag.into());
    }
    if deny_unknown && is_unit {
        object.entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

/// Lets the nested schemas of the same object accept further properties. Returns `true` if one did not.
pub(super) fn allow_unknown_below(schema: &mut Value) -> bool {
    let Value::Object(object) = schema else { return false };
    let mut changed = false;
    for (key, value) in object {
        match (key.as_str(), value) {
            ("if" | "then" | "else", value) => changed |= allow_unknown(value),
            ("allOf" | "anyOf" | "oneOf", Value::Array(forms)) => {
                for form in forms {
                    changed |= allow_unknown(form);
                }
            }
            _ => {}
        }
    }
    changed
}

fn allow_unknown(schema: &mut Value) -> bool {
    let mut changed = false;
    if let Value::Object(object) = schema {
        for key in ["additionalProperties", "unevaluatedProperties"] {
            if object.get(key) == Some(&Value::Bool(false)) {
                object.remove(key);
                changed = true;
            }
        }
    }
    allow_unknown_below(schema) | changed
}

/// Returns `true` if a referenced schema would refuse the tag of an internally tagged enum.
pub(super) fn refuses_tag(schema: &Value) -> bool {
    let is_false = |key| schema.get(key) == Some(&Value::Bool(false));
    schema.get("type").is_some_and(|name| name == "null")
        || is_false("additionalProperties")
        || is_false("unevaluatedProperties")
}

/// Prepares the schema of a flattened field for merging into the struct's.
pub(super) fn prepare_flatten(schema: &mut Value, optional: bool) {
    if let Some(bare) = take_bare_variants(schema)
        && let Value::Array(forms) = object(schema).entry("oneOf").or_insert_with(|| json!([]))
    {
        // When flattened, a bare variant is a key without a value.
        forms.extend(
            bare.iter()
                .filter_map(Value::as_str)
                .map(|name| json!({"type": "object", "properties": {name: {"type": "null"}}, "required": [name]})),
        );
    }
    if optional && let Value::Object(object) = schema {
        object.remove("required");
        if let Some(forms) = object.remove("oneOf") {
            flatten(schema, json!({"anyOf": [{"oneOf": forms}, {}]}));
        }
        if let Some(Value::Array(forms)) = schema.get_mut("anyOf")
            && !forms.contains(&json!({}))
        {
            forms.push(json!({}));
        }
    }
    allow_unknown(schema);
}

fn take_bare_variants(schema: &mut Value) -> Option<Vec<Value>> {
    let take = |schema: &mut Value| {
        let object = schema.as_object_mut().filter(|object| object.get("type").is_some_and(|name| name == "string"))?;
        match object.remove("enum") {
            Some(Value::Array(values)) => Some(values),
            _ => None,
        }
    };
    if let Some(values) = take(schema) {
        schema.as_object_mut()?.remove("type");
        return Some(values);
    }
    let forms = schema.get_mut("oneOf")?.as_array_mut()?;
    let values = take(forms.first_mut()?)?;
    forms.remove(0);
    Some(values)
}

/// Merges the schema of a flattened field into the struct's.
pub(super) fn flatten(schema: &mut Value, other: Value) {
    match other {
        Value::Object(mut other) => {
            let own = object(schema);
            prefer_unevaluated(own, &other);
            prefer_unevaluated(&mut other, own);
            for (key, value) in other {
                merge(own, key, value);
            }
        }
        Value::Bool(true) => {
            if let Value::Object(object) = schema
                && !object.contains_key("additionalProperties")
                && !object.contains_key("unevaluatedProperties")
            {
                let key = if is_composed(object) { "unevaluatedProperties" } else { "additionalProperties" };
                object.insert(key.into(), Value::Bool(true));
            }
        }
        _ => {}
    }
}

fn merge(own: &mut Map<String, Value>, key: String, value: Value) {
    let Some(present) = own.get_mut(&key) else {
        own.insert(key, value);
        return;
    };
    match (key.as_str(), present, value) {
        ("required" | "allOf", Value::Array(present), Value::Array(added)) => present.extend(added),
        ("properties" | "patternProperties", Value::Object(present), Value::Object(added)) => present.extend(added),
        ("oneOf" | "anyOf", present, added) => {
            let both = json!([{&key: present.take()}, {&key: added}]);
            own.remove(&key);
            merge(own, "allOf".into(), both);
        }
        _ => {}
    }
}

fn prefer_unevaluated(schema: &mut Map<String, Value>, other: &Map<String, Value>) {
    if (other.contains_key("unevaluatedProperties") || is_composed(other))
        && let Some(additional) = schema.remove("additionalProperties")
    {
        schema.insert("unevaluatedProperties".into(), additional);
    }
}

/// Adds a keyword if it applies to the type of the schema.
pub(super) fn insert_validation(schema: &mut Value, of_type: &str, key: &str, value: impl Into<Value>) {
    if has_type(schema, of_type) || (of_type == "number" && has_type(schema, "integer")) {
        insert(schema, key, value);
    }
}

/// Returns a pattern that matches a text literally.
pub(super) fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
