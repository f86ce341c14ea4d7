//! Schemas that demand more of a value than its Rust type does.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Returns `true` if a schema refuses values that its Rust type accepts, so that each value has to be validated.
///
/// `Deserialize` does not enforce the rules that `#[schemars(..)]` adds to a type. It does enforce the bounds of integer
/// types, which are therefore not counted.
#[must_use]
pub fn narrows_its_type(schema: &Value, defs: &BTreeMap<String, Value>) -> bool {
    let referred = has_reference(schema).then(|| defs.values()).into_iter().flatten();
    std::iter::once(schema).chain(referred).any(has_narrowing_keyword)
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => object.contains_key("$ref") || object.values().any(has_reference),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

fn has_narrowing_keyword(schema: &Value) -> bool {
    let Value::Object(object) = schema else {
        return matches!(schema, Value::Array(items) if items.iter().any(has_narrowing_keyword));
    };
    let number = |key: &str| object.get(key).filter(|value| value.is_number());
    let pair = |least: &str, most: &str| (number(least).and_then(Value::as_i64), number(most).and_then(Value::as_i64));
    let is_char = pair("minLength", "maxLength") == (Some(1), Some(1));
    let is_fixed_array = number("minItems").is_some() && number("minItems") == number("maxItems");
    object.iter().any(|(key, value)| match key.as_str() {
        "pattern" => value.is_string(),
        "uniqueItems" => value == &Value::Bool(true),
        "multipleOf" | "exclusiveMinimum" | "exclusiveMaximum" | "minProperties" | "maxProperties" => value.is_number(),
        "minLength" | "maxLength" => value.is_number() && !is_char,
        "minItems" | "maxItems" => value.is_number() && !is_fixed_array,
        "minimum" | "maximum" => value.is_number() && !is_range_of_an_integer_type(object, pair("minimum", "maximum")),
        "enum" | "const" | "default" | "examples" => false,
        // The keys of these objects are names, which may equal a keyword.
        "properties" | "patternProperties" | "$defs" => {
            value.as_object().is_some_and(|schemas| schemas.values().any(has_narrowing_keyword))
        }
        _ => has_narrowing_keyword(value),
    })
}

/// Returns `true` for the bounds of an integer type. `minimum: 0` alone is taken for `u64`.
fn is_range_of_an_integer_type(object: &Map<String, Value>, range: (Option<i64>, Option<i64>)) -> bool {
    const RANGES: [(i64, i64); 6] =
        [(0, 255), (0, 65_535), (0, 4_294_967_295), (-128, 127), (-32_768, 32_767), (-2_147_483_648, 2_147_483_647)];
    object.get("type").and_then(Value::as_str) != Some("number")
        && match range {
            (Some(least), Some(most)) => RANGES.contains(&(least, most)),
            (least, most) => least == Some(0) && most.is_none() && !object.contains_key("maximum"),
        }
}
