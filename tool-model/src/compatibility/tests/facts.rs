//! Facts that the source shows and the schemas do not.

use serde_json::{Value, json};

use super::{argument_changes, manifest};
use crate::compatibility::{changes, without_facts};

fn typed(schema: &str, rust_type: &str) -> Value {
    json!({"type": schema, "x-rust-type": rust_type, "x-validated": false})
}

#[test]
fn facts_are_compared_where_both_sides_have_them() {
    let max = u64::MAX;
    assert_eq!(
        argument_changes(typed("integer", "u128"), typed("integer", "u64")),
        [format!("- arguments.x: must be at most {max}")]
    );
    let none: [&str; 0] = [];
    assert_eq!(argument_changes(json!({"type": "integer"}), typed("integer", "u64")), none);
    assert_eq!(argument_changes(typed("number", "f64"), json!({"type": "number"})), none);
    assert_eq!(argument_changes(typed("integer", "u64"), typed("integer", "usize")), none);
    assert_eq!(
        argument_changes(typed("number", "f64"), typed("number", "f32")),
        ["- arguments.x: is rounded to `f32`; it was `f64`"]
    );
    assert_eq!(
        argument_changes(typed("number", "f32"), typed("number", "f64")),
        ["+ arguments.x: is `f64`; it was rounded to `f32`"]
    );
}

#[test]
fn a_bound_of_the_schema_counts_before_that_of_the_type() {
    let bounded = |rust_type: &str| json!({"type": "integer", "minimum": 0, "maximum": 9, "x-rust-type": rust_type});
    let none: [&str; 0] = [];
    assert_eq!(argument_changes(bounded("u64"), bounded("i64")), none);
}

#[test]
fn a_parsed_string_is_compared_by_its_format_if_it_has_one() {
    let parsed = |name: &str| typed("string", name);
    let uuid = json!({"type": "string", "format": "uuid", "x-rust-type": "Uuid"});
    assert_eq!(argument_changes(parsed("String"), uuid.clone()), ["- arguments.x: must have the format uuid"]);
    assert_eq!(argument_changes(uuid.clone(), parsed("String")), ["+ arguments.x: need not have the format uuid"]);
    assert_eq!(argument_changes(uuid, parsed("Level")), ["- arguments.x: is parsed as `Level`; it was `Uuid`"]);
    assert_eq!(
        argument_changes(parsed("String"), parsed("Level")),
        ["- arguments.x: is parsed as `Level`, which may refuse values that were accepted"]
    );
    assert_eq!(argument_changes(parsed("Level"), parsed("String")), ["+ arguments.x: is no longer parsed as `Level`"]);
}

#[test]
fn an_alias_keeps_a_renamed_property_unless_it_is_validated() {
    let object = |properties: Value, required: &[&str], validated: bool| json!({"type": "any", "allOf": [{"type": "object", "properties": properties, "required": required}], "x-validated": validated});
    let old = object(json!({"old": {"type": "integer"}}), &["old"], false);
    let new = |validated| object(json!({"new": {"type": "integer", "x-aliases": ["old"]}}), &["new"], validated);
    let read = r#"+ arguments.x.old: was renamed to `new`; it is still read (`#[serde(alias = "old")]`)"#;
    assert_eq!(argument_changes(old.clone(), new(false)), [read]);
    let refused = argument_changes(old, new(true));
    assert!(matches!(&refused[..], [only] if only.starts_with("- arguments.x.old: was renamed to `new`; calls")));
    let old = object(json!({"old": {"type": "integer"}}), &[], false);
    let optional = object(json!({"new": {"type": "integer", "x-aliases": ["old"]}}), &[], true);
    assert_eq!(argument_changes(old, optional), [read]);
}

#[test]
fn manifests_that_differ_in_facts_only_are_equal_without_them() {
    let tool = |arguments: Value| manifest(json!({"t": {"description": "", "handler": "h", "arguments": arguments}}));
    let plain = tool(json!({"x": {"type": "array", "required": true, "items": {"type": "string"}}}));
    let facts = tool(json!({"x": {
        "type": "array", "required": true, "items": {"type": "string", "x-rust-type": "String"}, "x-validated": true,
    }}));
    assert_ne!(plain, facts);
    assert_eq!(plain, without_facts(&facts));
    assert_eq!(changes(&plain, &facts), []);
    // A property may have the name of a keyword.
    let property = tool(json!({"x": {
        "type": "object", "required": true, "properties": {"x-aliases": {"type": "string"}},
    }}));
    assert_eq!(property, without_facts(&property));
}
