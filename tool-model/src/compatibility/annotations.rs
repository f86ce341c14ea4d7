//! Comparison of annotations: descriptions, defaults, examples, the order of values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::comparison::property;
use super::facts::is_fact;
use super::tool::{change_text, shown};
use super::{Change, ChangeKind};
use crate::canonical;
use crate::validate::format::StringFormat;

type Schema<'a> = (&'a Value, &'a BTreeMap<String, Value>);

/// The keywords that the comparison of rules covers. `enum` is among them, but the order of its values is compared
/// here.
const RULES: [&str; 39] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Distinguishes a definition from the schema that refers to it: both may have a description.
const BEHIND_REFERENCE: char = '$';

/// Compares the schemas at paths that both sides have.
pub(super) fn changes(tool: &str, path: &str, old: Schema<'_>, new: Schema<'_>) -> Vec<Change> {
    let (was, is) = (places(path, old), places(path, new));
    let mut found = Vec::new();
    for (path, old) in &was {
        let Some(new) = is.get(path) else { continue };
        let mut add = |kind, message| {
            let path = path.trim_end_matches(BEHIND_REFERENCE).to_owned();
            found.push(Change { tool: tool.to_owned(), path, kind, message });
        };
        let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        for key in keys {
            let (was, is) = (old.get(key), new.get(key));
            if was == is {
                continue;
            }
            match key.as_str() {
                "enum" if are_reordered(was, is) => {
                    add(ChangeKind::Text, "lists its values in a different order".to_owned());
                }
                "default" => add(ChangeKind::Compatible, format!("its default {}", change_text(shown(was), shown(is)))),
                "writeOnly" => add(ChangeKind::Compatible, format!("secret {}", change_text(shown(was), shown(is)))),
                key if is_rule(key, was.or(is)) || is_fact(key) => {}
                key => add(ChangeKind::Text, format!("its {key} {}", change_text(shown(was), shown(is)))),
            }
        }
    }
    found
}

/// Returns `true` for a keyword of a rule. Unknown formats are annotations.
fn is_rule(key: &str, value: Option<&Value>) -> bool {
    let is_format =
        || key == "format" && value.and_then(Value::as_str).is_some_and(|name| StringFormat::named(name).is_some());
    RULES.contains(&key) || is_format()
}

fn are_reordered(old: Option<&Value>, new: Option<&Value>) -> bool {
    let sorted = |values: Option<&Value>| {
        let mut texts: Vec<_> = values.and_then(Value::as_array).into_iter().flatten().map(canonical).collect();
        texts.sort_unstable();
        texts
    };
    sorted(old) == sorted(new)
}

/// Returns every schema by its path. A definition is followed only at its first reference.
fn places<'a>(path: &str, (schema, defs): Schema<'a>) -> BTreeMap<String, &'a Map<String, Value>> {
    let mut found = BTreeMap::new();
    let mut followed = BTreeSet::new();
    let mut waiting = vec![(path.to_owned(), schema)];
    while let Some((path, schema)) = waiting.pop() {
        let Some(map) = schema.as_object() else { continue };
        if let Some(name) = crate::reference_target(schema).map(std::borrow::Cow::into_owned)
            && let Some(target) = defs.get(&name)
            && followed.insert(name)
        {
            waiting.push((format!("{path}{BEHIND_REFERENCE}"), target));
        }
        for (name, inner) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            waiting.push((property(path.trim_end_matches(BEHIND_REFERENCE), name), inner));
        }
        for (key, place) in [("items", "[]"), ("additionalProperties", ".*")] {
            waiting.extend(
                map.get(key).map(|inner| (format!("{}{place}", path.trim_end_matches(BEHIND_REFERENCE)), inner)),
            );
        }
        for key in ["prefixItems", "anyOf", "oneOf", "allOf"] {
            for (index, inner) in map.get(key).and_then(Value::as_array).into_iter().flatten().enumerate() {
                let index = if key == "prefixItems" { format!("[{index}]") } else { format!("({})", index + 1) };
                waiting.push((format!("{}{index}", path.trim_end_matches(BEHIND_REFERENCE)), inner));
            }
        }
        found.insert(path, map);
    }
    found
}
