//! Tests of the validator.

mod branches;
mod containers;
mod limits;
pub(crate) mod oracle;
mod refused;
mod scalars;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{SchemaError, Validator, Violation, describe};

fn defs(value: Value) -> BTreeMap<String, Value> {
    serde_json::from_value(value).expect("an object of definitions")
}

fn validator(schema: &Value, definitions: Value) -> Validator {
    Validator::new(schema, &defs(definitions)).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

fn no_defs() -> Value {
    json!({})
}

/// Returns each violation as `path | received | expected`, with `-` for a missing value.
fn lines(violations: &[Violation]) -> Vec<String> {
    let line = |v: &Violation| format!("{} | {} | {}", v.path, v.received.as_str().unwrap_or("-"), v.kind);
    violations.iter().map(line).collect()
}

fn found(schema: &Value, definitions: Value, value: &Value) -> Vec<String> {
    let validator = validator(schema, definitions);
    let violations = validator.check(value, "");
    assert_eq!(violations.is_empty(), validator.is_valid(value), "{schema} on {value}");
    lines(&violations)
}

/// Checks values against one schema: each is valid, or has these violations.
#[track_caller]
fn table(schema: Value, cases: &[(Value, &[&str])]) {
    table_with(schema, no_defs(), cases);
}

#[track_caller]
fn table_with(schema: Value, definitions: Value, cases: &[(Value, &[&str])]) {
    for (value, expected) in cases {
        assert_eq!(found(&schema, definitions.clone(), value), *expected, "{schema} on {value}");
    }
}

/// Returns `true` if a value is valid. For floats, whose text depends on `serde_json`.
fn fits(schema: &Value, value: &Value) -> bool {
    found(schema, no_defs(), value).is_empty()
}

const FITS: &[&str] = &[];

#[test]
fn types() {
    table(
        json!({"type": "integer"}),
        &[
            (json!(3), FITS),
            (json!(30.0), FITS),
            (json!(1e300), FITS),
            (json!(1.5), &[" | 1.5 | integer"]),
            (json!("3"), &[r#" | "3" | integer"#]),
        ],
    );
    table(
        json!({"type": ["string", "null"]}),
        &[(json!(null), FITS), (json!("x"), FITS), (json!(true), &[" | true | string or null"])],
    );
    table(
        json!({"type": ["integer", "number", "boolean", "array"]}),
        &[(json!({}), &[" | {} | number, boolean or array"])],
    );
    table(json!(true), &[(json!([]), FITS)]);
    table(json!(false), &[(json!(1), &[" | 1 | nothing; leave it out"])]);
}

#[test]
fn listed_values() {
    table(
        json!({"type": "string", "enum": ["asc", "desc"]}),
        &[
            (json!("asc"), FITS),
            (json!("up"), &[r#" | "up" | one of "asc", "desc""#]),
            (json!(1), &[r#" | 1 | one of "asc", "desc""#]),
        ],
    );
    table(
        json!({"enum": [1, {"a": [1, 2.0], "b": null}]}),
        &[
            (json!(1.0), FITS),
            (json!({"b": null, "a": [1.0, 2]}), FITS),
            (json!({"a": [2, 1], "b": null}), &[r#" | {"a":[2,1],"b":null} | one of 1, {"a":[1,2.0],"b":null}"#]),
        ],
    );
    table(json!({"const": "circle"}), &[(json!("circle"), FITS), (json!(0), &[r#" | 0 | exactly "circle""#])]);
    table(json!({"const": "a", "enum": ["a", "b"]}), &[(json!("b"), &[r#" | "b" | exactly "a""#])]);
    table(json!({"const": "c", "enum": ["a", "b"]}), &[(json!("c"), &[r#" | "c" | nothing"#])]);
    table(json!({"enum": []}), &[(json!(0), &[" | 0 | nothing"])]);
}

#[test]
fn a_long_list_is_cut_and_the_nearest_value_named() {
    let cities: Vec<String> = (0..26_u8).map(|n| char::from(b'a' + n).to_string().repeat(4)).collect();
    let found = found(&json!({"enum": cities}), no_defs(), &json!("zzz"));
    assert!(found[0].ends_with(r#""tttt", … (6 more); did you mean "zzzz"?"#), "{found:?}");
}

#[test]
fn combinations() {
    table(
        json!({"allOf": [{"type": "integer"}, {"minimum": 5}, {"type": "integer"}]}),
        &[(json!(5), FITS), (json!(1), &[" | 1 | number of at least 5"]), (json!("x"), &[r#" | "x" | integer"#])],
    );
    table(json!({"not": {"type": "string"}}), &[(json!("x"), &[r#" | "x" | anything but string"#]), (json!(1), FITS)]);
    table(
        json!({"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}),
        &[
            (json!({"a": 1}), &["b | - | missing, expected any value"]),
            (json!({"a": 2}), &["c | - | missing, expected any value"]),
            (json!({"a": 2, "c": 0}), FITS),
        ],
    );
    table(json!({"then": false, "else": false}), &[(json!(1), FITS)]);
    table(
        json!({"oneOf": [{"type": "integer"}, {"minimum": 2}]}),
        &[
            (json!(1), FITS),
            (json!(2.5), FITS),
            (json!(3), &[" | 3 | only one of: integer; number of at least 2 (this fits both)"]),
        ],
    );
}

#[test]
fn paths() {
    let schema = json!({"properties": {"order": {"properties": {"items": {"items": {
        "properties": {"sku": {"type": "string"}, "odd \"name\"": {"type": "string"}, "": {"type": "string"}},
    }}}}}});
    let value = json!({"order": {"items": [{}, {}, {"sku": 1, "odd \"name\"": 2, "": 3}]}});
    let paths = |prefix: &str| -> Vec<String> {
        validator(&schema, no_defs())
            .check(&value, prefix)
            .into_iter()
            .map(|violation| violation.path.to_string())
            .collect()
    };
    assert_eq!(paths(""), [r#"order.items[2][""]"#, r#"order.items[2]["odd \"name\""]"#, "order.items[2].sku"]);
    assert_eq!(paths("query")[2], "query.order.items[2].sku");
    let odd = validator(&json!({"additionalProperties": false}), no_defs()).check(&json!({"a b": 1}), "");
    assert_eq!(odd[0].path.to_string(), r#"["a b"]"#);
}

#[test]
fn shortens_the_received_value() {
    let received = |value: Value| found(&json!({"type": "null"}), no_defs(), &value).remove(0);
    let shown = |text: &str| format!(" | {text} | null");
    let exact = "é".repeat(78);
    assert_eq!(received(json!(exact)), shown(&format!("\"{exact}\"")));
    assert_eq!(received(json!("😀".repeat(79))), shown(&format!("\"{}…", "😀".repeat(78))));
    assert_eq!(received(json!("x".repeat(1_000_000))), shown(&format!("\"{}…", "x".repeat(78))));
    assert_eq!(received(json!(vec![1; 100_000])), shown(&format!("[{}…", "1,".repeat(39))));
}

#[test]
fn a_type_beside_a_reference_is_told_by_its_name() {
    let definitions = json!({"Order": {"type": "object", "required": ["id"]}, "a/b~c d": {"type": "string"}});
    table_with(
        json!({"type": "object", "$ref": "#/$defs/Order"}),
        definitions.clone(),
        &[(json!([]), &[" | [] | object Order"]), (json!({}), &["id | - | missing, expected any value"])],
    );
    table_with(json!({"$ref": "#/$defs/a~1b~0c%20d"}), definitions, &[(json!(1), &[" | 1 | string"])]);
    let own = json!({"$ref": "#/$defs/Id", "$defs": {"Id": {"type": "integer"}}});
    table(own, &[(json!("x"), &[r#" | "x" | integer"#])]);
}

#[test]
fn descriptions() {
    let definitions = defs(json!({
        "Order": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "Sort": {"enum": ["asc", "desc"]},
        "Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        "Loop": {"$ref": "#/$defs/Loop"},
    }));
    let cases = [
        (json!({}), "any value"),
        (json!(true), "any value"),
        (json!(false), "nothing"),
        (json!({"description": "Hello."}), "any value"),
        (json!({"type": "integer", "minimum": 1, "maximum": 100}), "integer between 1 and 100"),
        (json!({"type": ["integer", "null"], "minimum": 1}), "integer of at least 1 or null"),
        (json!({"type": "array", "items": {"type": "string"}}), "array of string"),
        (json!({"type": "array", "items": {"type": ["string", "null"]}}), "array of (string or null)"),
        (json!({"type": "array", "items": {"$ref": "#/$defs/Sort"}}), r#"array of (one of "asc", "desc")"#),
        (json!({"$ref": "#/$defs/Order"}), "object Order"),
        (json!({"type": "object", "$ref": "#/$defs/Order", "description": "x"}), "object Order"),
        (json!({"allOf": [{"$ref": "#/$defs/Order"}], "default": {}}), "object Order"),
        (json!({"anyOf": [{"$ref": "#/$defs/Order"}, {"type": "null"}]}), "object Order or null"),
        (json!({"anyOf": [{"$ref": "#/$defs/Sort"}, {"type": "null"}]}), r#"one of "asc", "desc", null"#),
        (json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}), "one of: string; integer"),
        (json!({"type": "object", "title": "Options"}), "object Options"),
        (json!({"type": "object", "minProperties": 1}), "object with at least 1 property"),
        (json!({"not": {"type": "null"}}), "anything but null"),
        (json!({"type": "integer", "not": {"const": 0}}), "integer other than 0"),
        (json!({"type": "string", "not": {"enum": ["a", "b"]}}), r#"string other than "a", "b""#),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "maxItems": 2}),
            "array [string, integer] with exactly 2 items",
        ),
        (json!({"minimum": 0, "allOf": [{"maximum": 9}]}), "number of at least 0 and number of at most 9"),
        (json!({"type": "string", "pattern": "("}), "string"),
        (json!({"$ref": "#/$defs/Missing", "type": "string"}), "string"),
        (json!("nonsense"), "any value"),
    ];
    for (schema, expected) in cases {
        assert_eq!(describe(&schema, &definitions), expected, "{schema}");
    }
    assert_eq!(describe(&json!({"$ref": "#/$defs/Tree"}), &definitions), "array of Tree");
    assert_eq!(describe(&json!({"$ref": "#/$defs/Loop"}), &definitions), "Loop");
}

#[test]
fn validators_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Validator>();
    shared::<Violation>();
    shared::<SchemaError>();
}
