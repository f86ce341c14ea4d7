//! Numbers such as `42.0` where a schema expects an integer.
//!
//! JSON Schema accepts them, and models write them, but `Value::as_i64` and many servers do not.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ArgumentSchema;

/// The largest integer up to which every integer has an `f64` of its own.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// The number of references and alternatives that are followed in a row.
const MAX_DEPTH: usize = 4;

/// The number of schemas that are followed for one argument. Alternatives that refer to each other multiply.
const MAX_STEPS: usize = 100_000;

impl ArgumentSchema {
    /// Converts whole floats to integers in arguments for which the schema names the type `integer`.
    pub fn convert_whole_numbers(&self, arguments: &mut Map<String, Value>) {
        for (name, value) in arguments {
            if let Some(property) = self.properties.get(name).filter(|_| has_whole_float(value)) {
                Conversion { defs: &self.defs, steps: MAX_STEPS }.convert(&property.schema, value, 0);
            }
        }
    }
}

struct Conversion<'a> {
    defs: &'a BTreeMap<String, Value>,
    /// The remaining steps.
    steps: usize,
}

impl Conversion<'_> {
    /// Follows the schema as far as it leads into the value. `depth` counts the references and alternatives since the
    /// last step into a part of the value, because they can form a cycle.
    fn convert(&mut self, schema: &Value, value: &mut Value, depth: usize) {
        let Some(schema) = schema.as_object().filter(|_| depth <= MAX_DEPTH && self.steps > 0) else { return };
        self.steps -= 1;
        if names_integer(schema.get("type"))
            && let Some(integer) = whole(value)
        {
            *value = integer.into();
        }
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
        let alternatives = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten();
        for schema in target.and_then(|name| self.defs.get(name)).into_iter().chain(alternatives) {
            self.convert(schema, value, depth + 1);
        }
        match value {
            Value::Array(items) => {
                let Some(schema) = schema.get("items") else { return };
                items.iter_mut().for_each(|item| self.convert(schema, item, 0));
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    let known = schema.get("properties").and_then(|properties| properties.get(name));
                    if let Some(schema) = known.or_else(|| schema.get("additionalProperties")) {
                        self.convert(schema, field, 0);
                    }
                }
            }
            _ => {}
        }
    }
}

fn has_whole_float(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_whole_float),
        Value::Object(fields) => fields.values().any(has_whole_float),
        value => whole(value).is_some(),
    }
}

/// Returns the integer of a number such as `42.0`.
fn whole(value: &Value) -> Option<i64> {
    let float = value.as_f64().filter(|float| value.is_f64() && float.fract() == 0.0 && float.abs() <= LARGEST)?;
    Some(float as i64)
}

fn names_integer(types: Option<&Value>) -> bool {
    match types {
        Some(Value::String(name)) => name == "integer",
        Some(Value::Array(names)) => names.iter().any(|name| name == "integer"),
        _ => false,
    }
}
