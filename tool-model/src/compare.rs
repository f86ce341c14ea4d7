//! Whether a manifest's entry still says what the linked tool is.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Argument, ToolDefinition, canonical};

/// What differs between a manifest's entry and the linked definition: arguments, their types, nested schemas.
/// Empty when they agree. An `any` in the manifest agrees with everything; text for the model is not compared.
#[must_use]
pub fn difference(manifest: &ToolDefinition, linked: &ToolDefinition) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, linked_argument) in &linked.arguments {
        match manifest.arguments.get(name) {
            None => differences.push(format!("argument `{name}` is missing in the manifest")),
            Some(entry) => {
                differences.extend(argument_difference(name, entry, &manifest.defs, linked_argument, &linked.defs))
            }
        }
    }
    for name in manifest.arguments.keys().filter(|name| !linked.arguments.contains_key(*name)) {
        differences.push(format!("argument `{name}` is no longer in the code"));
    }
    differences
}

fn argument_difference(
    name: &str,
    entry: &Argument,
    entry_defs: &BTreeMap<String, Value>,
    linked: &Argument,
    linked_defs: &BTreeMap<String, Value>,
) -> Option<String> {
    if entry.required != linked.required {
        let (was, is) = if linked.required { ("optional", "required") } else { ("required", "optional") };
        return Some(format!("argument `{name}` is {was} in the manifest, {is} in the code"));
    }
    if entry.is_any() {
        return None;
    }
    let mut seen = Vec::new();
    if same(&bare(entry), entry_defs, &bare(linked), linked_defs, &mut seen) {
        return None;
    }
    let show = |argument: &Argument| canonical(&bare(argument));
    let (was, is) = (show(entry), show(linked));
    Some(if was == is {
        format!("argument `{name}`: the definitions its schema refers to have changed")
    } else {
        format!("argument `{name}` is {was} in the manifest, {is} in the code")
    })
}

/// The schema without what is only text.
fn bare(argument: &Argument) -> Value {
    Argument { description: None, ..argument.clone() }.schema()
}

/// A description is text for the model; a *property* of that name is a schema and no text.
fn is_text((key, value): (&String, &Value)) -> bool {
    key == "description" && value.is_string()
}

/// Whether two schemas accept the same, each with its own definitions. Descriptions do not count, and an empty
/// schema on the manifest's side, its `any`, agrees with everything.
fn same<'a>(
    entry: &'a Value,
    entry_defs: &'a BTreeMap<String, Value>,
    linked: &'a Value,
    linked_defs: &'a BTreeMap<String, Value>,
    seen: &mut Vec<(String, String)>,
) -> bool {
    match (entry, linked) {
        (Value::Object(entry), _) if entry.iter().all(is_text) => true,
        (Value::Object(entry), Value::Object(linked)) => {
            let keys = |object: &'a serde_json::Map<String, Value>| {
                let mut keys: Vec<&str> =
                    object.iter().filter(|entry| !is_text(*entry)).map(|(key, _)| key.as_str()).collect();
                keys.sort_unstable();
                keys
            };
            keys(entry) == keys(linked)
                && keys(entry).into_iter().all(|key| {
                    if key == "$ref" {
                        return same_target(&entry[key], entry_defs, &linked[key], linked_defs, seen);
                    }
                    same(&entry[key], entry_defs, &linked[key], linked_defs, seen)
                })
        }
        (Value::Array(entry), Value::Array(linked)) => {
            entry.len() == linked.len()
                && entry.iter().zip(linked).all(|(a, b)| same(a, entry_defs, b, linked_defs, seen))
        }
        (entry, linked) => entry == linked,
    }
}

fn same_target<'a>(
    entry: &'a Value,
    entry_defs: &'a BTreeMap<String, Value>,
    linked: &'a Value,
    linked_defs: &'a BTreeMap<String, Value>,
    seen: &mut Vec<(String, String)>,
) -> bool {
    let target = |reference: &'a Value| reference.as_str().and_then(crate::schema::target_of);
    let (Some(entry), Some(linked)) = (target(entry), target(linked)) else { return entry == linked };
    let pair = (entry.into_owned(), linked.into_owned());
    if seen.contains(&pair) {
        return true;
    }
    let definitions = (entry_defs.get(&pair.0), linked_defs.get(&pair.1));
    seen.push(pair);
    match definitions {
        (Some(a), Some(b)) => same(a, entry_defs, b, linked_defs, seen),
        _ => false,
    }
}
