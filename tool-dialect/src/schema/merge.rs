//! Merges the schemas of an `allOf` into one, because providers support `allOf` badly or not at all.

use serde_json::{Map, Value, json};

use super::definitions::{ReferenceTarget, ToolDefs};
use super::node::SchemaNode;
use super::type_set::TypeSet;

/// The maximum depth of references followed while merging.
const DEEPEST: usize = 16;

/// Annotations: if there are several, the outermost wins.
const REMARKS: [&str; 4] = ["description", "default", "examples", "title"];

/// Keywords whose meaning depends on their siblings: they must all come from the same part.
const TOGETHER: [&[&str]; 3] = [
    &["prefixItems", "items", "unevaluatedItems"],
    &["contains", "minContains", "maxContains"],
    &["if", "then", "else"],
];

/// Returns one schema equivalent to all parts together, or `None` if there is none. `rest` holds the siblings of the
/// `allOf`.
pub(crate) fn merged(parts: &[&Value], rest: Map<String, Value>, definitions: &ToolDefs<'_>) -> Option<Value> {
    let mut flat = Vec::new();
    for part in parts {
        flatten(part.as_object()?.clone(), definitions, 0, &mut flat)?;
    }
    let parts_end = flat.len();
    push(&mut flat, 0, rest);
    if TOGETHER.iter().any(|keywords| is_spread(&flat, keywords)) {
        return None;
    }
    close(&mut flat, parts_end)?;
    let mut all = Map::new();
    for (key, value) in flat.into_iter().flatten() {
        add(&mut all, key, value)?;
    }
    Some(Value::Object(all))
}

/// Resolves the outermost reference of a part into its target and its siblings.
fn flatten(
    mut part: Map<String, Value>,
    definitions: &ToolDefs<'_>,
    depth: usize,
    flat: &mut Vec<Map<String, Value>>,
) -> Option<()> {
    let begin = flat.len();
    if let Some(reference) = part.remove("$ref") {
        match definitions.target(&reference) {
            ReferenceTarget::Inline(schema) if depth < DEEPEST => {
                flatten(schema.as_object()?.clone(), definitions, depth + 1, flat)?;
            }
            _ => return None,
        }
    }
    push(flat, begin, part);
    Some(())
}

/// Adds a part whose annotations replace those of the parts since `begin`.
fn push(flat: &mut Vec<Map<String, Value>>, begin: usize, part: Map<String, Value>) {
    for inner in &mut flat[begin..] {
        inner.retain(|key, _| !REMARKS.contains(&key.as_str()) || !part.contains_key(key));
    }
    flat.push(part);
}

/// Returns `true` if the parts disagree about these keywords.
fn is_spread(flat: &[Map<String, Value>], keywords: &[&str]) -> bool {
    let said = |part| keywords.iter().map(move |keyword| Map::get(part, *keyword));
    let mut saying = flat.iter().filter(|part| said(*part).any(|value| value.is_some()));
    saying.next().is_some_and(|first| saying.any(|other| !said(other).eq(said(first))))
}

/// Applies closed parts, which accept only their own properties: removes the properties of the other parts. Returns
/// `None` if one of those is required.
fn close(flat: &mut [Map<String, Value>], parts_end: usize) -> Option<()> {
    for at in 0..flat.len() {
        // On the outermost schema, it applies to the properties of all parts.
        let own = flat[at].get("unevaluatedProperties").filter(|_| at < parts_end);
        let Some(others) = flat[at].get("additionalProperties").or(own) else { continue };
        if SchemaNode::read(others).is_any() {
            continue;
        }
        let is_closed = *others == Value::Bool(false);
        let known = flat[at].get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let is_plain = own.is_none() && flat.iter().all(|part| !part.contains_key("patternProperties"));
        let names = |part: &Map<String, Value>| -> Vec<String> {
            let properties = part.get("properties").and_then(Value::as_object);
            properties.into_iter().flat_map(Map::keys).filter(|name| !known.contains_key(*name)).cloned().collect()
        };
        let foreign: Vec<String> = flat.iter().flat_map(names).collect();
        let is_wanted = |name: &String| flat.iter().any(|part| requires(part, name));
        if foreign.is_empty() && is_plain {
            continue;
        }
        if !is_closed || !is_plain || foreign.iter().any(is_wanted) {
            return None;
        }
        for properties in flat.iter_mut().filter_map(|part| part.get_mut("properties")?.as_object_mut()) {
            properties.retain(|name, _| known.contains_key(name));
        }
    }
    Some(())
}

fn requires(part: &Map<String, Value>, name: &str) -> bool {
    part.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|known| known == name))
}

/// Merges one keyword into the result.
fn add(all: &mut Map<String, Value>, key: String, value: Value) -> Option<()> {
    let Some(known) = all.get_mut(&key) else {
        all.insert(key, value);
        return Some(());
    };
    if *known == value {
        return Some(());
    }
    let both = match key.as_str() {
        remark if REMARKS.contains(&remark) => return Some(()),
        "properties" => return add_properties(known.as_object_mut()?, value),
        "required" => {
            let names = known.as_array_mut()?;
            let Value::Array(more) = value else { return None };
            let more: Vec<Value> = more.into_iter().filter(|name| !names.contains(name)).collect();
            names.extend(more);
            return Some(());
        }
        "additionalProperties" => [&*known, &value].contains(&&json!(false)).then_some(Value::Bool(false)),
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
    let (a, b) = (TypeSet::read(a), TypeSet::read(b));
    let both: Vec<&str> = a.both(b).each().map(TypeSet::name).collect();
    match both[..] {
        [] => None,
        [one] => Some(one.into()),
        ref several => Some(json!(several)),
    }
}

fn larger(a: &Value, b: &Value) -> Option<Value> {
    Some(if a.as_f64()? >= b.as_f64()? { a.clone() } else { b.clone() })
}
