//! Comparison of manifest entries with linked definitions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::schema_walk::{SchemaWalk, sorted_keywords};
use crate::{Argument, KEYS, Key, KeyKind, ToolDefinition, canonical};

/// Returns the differences between a manifest's entry and the linked definition: arguments, their types, nested
/// schemas, the result, and keys such as `sensitive`. Empty if they agree.
///
/// An `any` in the manifest matches everything, and so does a missing default or result: a generator that parses source
/// sees less than the type system. Descriptions and instructions are not compared, because users may edit them in the
/// manifest.
#[must_use]
pub fn difference(manifest: &ToolDefinition, linked: &ToolDefinition) -> Vec<String> {
    // The fast path, and the common case.
    if manifest == linked {
        return Vec::new();
    }
    let mut differences = behaviour_differences(manifest, linked);
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
    if let Some(entry) = &manifest.returns {
        let compared = |returns| SchemaWalk::new(&manifest.defs, &linked.defs).schemas(entry, returns);
        match linked.returns.as_ref().map(compared) {
            Some(Ok(())) => {}
            Some(Err(mismatch)) => differences.push(format!("`returns{}`: {mismatch}", mismatch.path())),
            None => differences.push("the code no longer describes the result".to_owned()),
        }
    }
    differences
}

/// Like [`difference`], and also compares descriptions and instructions, for a manifest that must match the source
/// exactly.
#[must_use]
pub fn difference_with_words(manifest: &ToolDefinition, linked: &ToolDefinition) -> Vec<String> {
    let mut differences = difference(manifest, linked);
    if manifest.description != linked.description {
        let (was, is) = (&manifest.description, &linked.description);
        differences.push(format!("the description is {was:?} in the manifest, {is:?} in the code"));
    }
    for key in KEYS.iter().filter(|key| key.is_wording && key.get(manifest) != key.get(linked)) {
        differences.push(format!("the {} have changed", key.name));
    }
    for (name, linked_argument) in &linked.arguments {
        let Some(entry) = manifest.arguments.get(name).filter(|entry| !entry.is_any()) else { continue };
        if entry.description != linked_argument.description {
            let show = |text: &Option<String>| text.as_ref().map_or("absent".to_owned(), |text| format!("{text:?}"));
            let (was, is) = (show(&entry.description), show(&linked_argument.description));
            differences.push(format!("the description of `{name}` is {was} in the manifest, {is} in the code"));
        }
    }
    // Only descriptions nested in schemas are left. They differ if applying the manifest's changes the linked tool.
    if differences.is_empty() && linked.clone().with_words_of(manifest) != *linked {
        differences.push("a description inside a schema has changed".to_owned());
    }
    differences
}

/// Compares the keys. The code takes precedence: a manifest must not change whether a tool is sensitive, so a manifest
/// that disagrees is stale.
fn behaviour_differences(manifest: &ToolDefinition, linked: &ToolDefinition) -> Vec<String> {
    let differing = |key: &Key| {
        let show = |value: Option<Value>| match (key.kind, value) {
            (_, Some(value)) => value.to_string(),
            (KeyKind::Flag, None) => "false".to_owned(),
            (KeyKind::Words | KeyKind::Names, None) => "[]".to_owned(),
            (_, None) => "not set".to_owned(),
        };
        let (was, is) = (key.get(manifest), key.get(linked));
        (was != is).then(|| format!("`{}` is {} in the manifest, {} in the code", key.manifest, show(was), show(is)))
    };
    KEYS.iter().filter(|key| !key.is_wording).filter_map(differing).collect()
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
    if entry.aliases != linked.aliases {
        let (was, is) = (json!(entry.aliases), json!(linked.aliases));
        return Some(format!("argument `{name}`: `aliases` is {was} in the manifest, {is} in the code"));
    }
    if entry.is_any() {
        return None;
    }
    let mismatch = SchemaWalk::new(entry_defs, linked_defs)
        .keywords(sorted_keywords(&entry.keywords), sorted_keywords(&linked.keywords))
        .err();
    let same_type = entry.type_name == linked.type_name;
    match mismatch {
        None if same_type => None,
        Some(inside) if same_type && !inside.is_at_root() => {
            Some(format!("argument `{name}{}`: {inside}", inside.path()))
        }
        _ => {
            let show = |argument: &Argument| canonical(&Argument { description: None, ..argument.clone() }.schema());
            let (was, is) = (show(entry), show(linked));
            Some(format!("argument `{name}` is {was} in the manifest, {is} in the code"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(value: Value) -> ToolDefinition {
        let mut whole = json!({"description": "Do it.", "handler": "app::it", "arguments": {}});
        let (Value::Object(whole_map), Value::Object(more)) = (&mut whole, value) else { panic!("an object") };
        whole_map.extend(more);
        serde_json::from_value(whole).expect("a tool")
    }

    fn with_property(schema: Value) -> ToolDefinition {
        tool(json!({
            "arguments": {"order": {"type": "object", "required": true, "$ref": "#/$defs/Order"}},
            "$defs": {"Order": {"type": "object", "description": "An order.", "properties": {"it": schema}}},
        }))
    }

    #[test]
    fn rejects_different_behaviour() {
        for (key, value, is) in [
            ("sensitive", json!(true), "`sensitive` is true in the manifest, false in the code"),
            ("destructive", json!(true), "`destructive` is true in the manifest, false in the code"),
            ("read_only", json!(true), "`read_only` is true in the manifest, false in the code"),
            ("timeout_ms", json!(500), "`timeout_ms` is 500 in the manifest, not set in the code"),
            ("tags", json!(["a"]), "`tags` is [\"a\"] in the manifest, [] in the code"),
            ("category", json!("a"), "`category` is \"a\" in the manifest, not set in the code"),
        ] {
            assert_eq!(difference(&tool(json!({key: value})), &tool(json!({}))), [is]);
            assert_eq!(difference(&tool(json!({})), &tool(json!({key: value}))).len(), 1, "{key}");
        }
    }

    #[test]
    fn the_manifest_may_change_descriptions() {
        let manifest = tool(json!({"description": "Do it well.", "instructions": "Now."}));
        assert!(difference(&manifest, &tool(json!({}))).is_empty());
        let worded = tool(json!({})).with_words_of(&manifest);
        assert_eq!(worded, manifest);
        assert_eq!(difference_with_words(&manifest, &tool(json!({}))).len(), 2);
    }

    #[test]
    fn the_manifest_may_change_nested_descriptions() {
        let manifest = with_property(json!({"type": "string", "description": "Edited."}));
        let linked = with_property(json!({"type": "string", "description": "Original.", "default": "a"}));
        assert!(difference(&manifest, &linked).is_empty());
        let offered = linked.clone().with_words_of(&manifest);
        assert_eq!(
            offered.defs["Order"]["properties"]["it"],
            json!({"type": "string", "description": "Edited.", "default": "a"}),
            "the manifest's words, the code's default"
        );
        assert_eq!(difference_with_words(&manifest, &linked), ["a description inside a schema has changed"]);
        assert!(difference_with_words(&offered, &offered).is_empty());
    }

    #[test]
    fn ignores_a_default_that_the_manifest_lacks() {
        let (with, without) = (json!({"type": "integer", "default": 3}), json!({"type": "integer"}));
        assert!(difference(&with_property(without.clone()), &with_property(with.clone())).is_empty());
        assert!(difference_with_words(&with_property(without.clone()), &with_property(with.clone())).is_empty());
        assert_eq!(difference(&with_property(with.clone()), &with_property(without)).len(), 1, "one that is gone is");
        let other = json!({"type": "integer", "default": 4});
        assert_eq!(difference(&with_property(other), &with_property(with)).len(), 1, "one that has changed is");
    }

    /// A property may have the name of a keyword.
    #[test]
    fn compares_properties_named_like_keywords() {
        for name in ["default", "description"] {
            let inner = json!({"type": "object", "properties": {"a": {"type": "string"}, name: {"type": "string"}}});
            let less = json!({"type": "object", "properties": {"a": {"type": "string"}}});
            assert_eq!(difference(&with_property(less), &with_property(inner)).len(), 1, "{name}");
        }
    }

    #[test]
    fn any_matches_everything() {
        let linked = with_property(json!({"type": "string", "description": "A word."}));
        for any in [json!({}), json!({"default": 1})] {
            let manifest = with_property(any);
            assert!(difference(&manifest, &linked).is_empty());
            assert!(difference_with_words(&manifest, &linked).is_empty());
            assert_eq!(linked.clone().with_words_of(&manifest), linked);
        }
        let manifest = tool(json!({"arguments": {"order": {"type": "any", "required": true}}}));
        assert!(difference(&manifest, &linked).is_empty());
        assert_eq!(linked.clone().with_words_of(&manifest), linked);
    }

    #[test]
    fn compares_the_result_if_the_manifest_has_one() {
        let linked = tool(json!({"returns": {"type": "array", "items": {"type": "string"}}}));
        assert!(difference(&tool(json!({})), &linked).is_empty());
        let other = tool(json!({"returns": {"type": "object"}}));
        assert_eq!(
            difference(&other, &linked),
            ["`returns`: `items` is not set in the manifest, {\"type\":\"string\"} in the code"]
        );
        assert_eq!(difference(&linked, &tool(json!({}))), ["the code no longer describes the result"]);
    }

    #[test]
    fn compares_recursive_types() {
        let tree = |leaf: &str| {
            tool(json!({
                "arguments": {"tree": {"type": "object", "required": true, "$ref": "#/$defs/Tree"}},
                "$defs": {"Tree": {"type": "object", "properties": {
                    "leaf": {"type": leaf}, "below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                }}},
            }))
        };
        let mut described = tree("string");
        described.description = "Otherwise.".to_owned();
        assert!(difference(&described, &tree("string")).is_empty());
        assert_eq!(
            difference(&tree("integer"), &tree("string")),
            ["argument `tree.leaf`: `type` is \"integer\" in the manifest, \"string\" in the code"]
        );
    }

    #[test]
    fn names_the_first_difference() {
        let changed = |was: Value, is: Value| difference(&with_property(was), &with_property(is));
        assert_eq!(
            changed(
                json!({"type": "array", "items": {"type": "integer", "maximum": 9}}),
                json!({"type": "array", "items": {"type": "integer"}})
            ),
            ["argument `order.it[]`: `maximum` is 9 in the manifest, not set in the code"]
        );
        let of = |properties: Value| json!({"type": "object", "properties": properties});
        assert_eq!(
            changed(of(json!({"a b": {"type": "null"}})), of(json!({}))),
            ["argument `order.it[\"a b\"]`: it is {\"type\":\"null\"} in the manifest, not set in the code"]
        );
        let list = |types: &[&str]| json!({"anyOf": types.iter().map(|it| json!({"type": it})).collect::<Vec<_>>()});
        assert_eq!(
            changed(list(&["null", "string"]), list(&["null", "number"])),
            ["argument `order.it(2)`: `type` is \"string\" in the manifest, \"number\" in the code"]
        );
    }
}
