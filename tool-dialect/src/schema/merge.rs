//! Several schemas that all must hold, as one. Providers read `allOf` badly or not at all.

use serde_json::{Map, Value, json};

use super::definitions::{Definitions, Target};
use super::types::Types;

/// How deep definitions are looked up while merging; what is deeper stays apart.
const DEEPEST: usize = 16;

/// The schema that says what all parts say together, or nothing where one schema cannot say it.
pub(crate) fn merged(parts: &[&Value], rest: Map<String, Value>, definitions: &Definitions<'_>) -> Option<Value> {
    let mut all = Map::new();
    for part in parts {
        for (key, value) in flat(part, definitions, 0)? {
            add(&mut all, key, value, false)?;
        }
    }
    for (key, value) in rest {
        add(&mut all, key, value, true)?;
    }
    Some(Value::Object(all))
}

/// A part without its outermost reference.
fn flat(part: &Value, definitions: &Definitions<'_>, depth: usize) -> Option<Map<String, Value>> {
    let mut object = part.as_object()?.clone();
    let Some(reference) = object.remove("$ref") else { return Some(object) };
    match definitions.target(&reference) {
        Target::Inline(schema) if depth < DEEPEST => {
            let mut all = flat(schema, definitions, depth + 1)?;
            for (key, value) in object {
                add(&mut all, key, value, true)?;
            }
            Some(all)
        }
        _ => None,
    }
}

/// Adds one keyword to what is said already. `outer` stands at the place of use, and its words win.
fn add(all: &mut Map<String, Value>, key: String, value: Value, outer: bool) -> Option<()> {
    let Some(known) = all.get_mut(&key) else {
        all.insert(key, value);
        return Some(());
    };
    if *known == value {
        return Some(());
    }
    let both = match key.as_str() {
        "description" | "default" | "examples" | "title" => {
            if outer {
                *known = value;
            }
            return Some(());
        }
        "properties" => return add_properties(known.as_object_mut()?, value),
        "required" => {
            let names = known.as_array_mut()?;
            let Value::Array(more) = value else { return None };
            let more: Vec<Value> = more.into_iter().filter(|name| !names.contains(name)).collect();
            names.extend(more);
            return Some(());
        }
        // Closed parts are closed together: each was meant with the properties of the others.
        "additionalProperties" | "unevaluatedProperties" => {
            [&*known, &value].contains(&&json!(false)).then_some(Value::Bool(false))
        }
        "type" => both_types(known, &value),
        "enum" => {
            let other = value.as_array()?;
            Some(known.as_array()?.iter().filter(|value| other.contains(value)).cloned().collect())
        }
        "allOf" => known.as_array().zip(value.as_array()).map(|(a, b)| a.iter().chain(b).cloned().collect()),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => larger(known, &value),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            let larger = larger(known, &value)?;
            Some(if larger == *known { value } else { known.clone() })
        }
        _ => None,
    };
    *known = both?;
    Some(())
}

fn add_properties(known: &mut Map<String, Value>, more: Value) -> Option<()> {
    let Value::Object(more) = more else { return None };
    for (name, schema) in more {
        match known.get_mut(&name) {
            None => {
                known.insert(name, schema);
            }
            Some(same) if *same == schema => {}
            Some(other) => *other = json!({"allOf": [other.take(), schema]}),
        }
    }
    Some(())
}

fn both_types(a: &Value, b: &Value) -> Option<Value> {
    let (a, b) = (Types::read(a), Types::read(b));
    let both: Vec<&str> = a.each().filter(|one| b.has(*one)).map(Types::name).collect();
    match both[..] {
        [] => None,
        [one] => Some(one.into()),
        ref several => Some(json!(several)),
    }
}

fn larger(a: &Value, b: &Value) -> Option<Value> {
    Some(if a.as_f64()? >= b.as_f64()? { a.clone() } else { b.clone() })
}
