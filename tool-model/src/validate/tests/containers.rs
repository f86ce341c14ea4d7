//! Violations by arrays and objects.

use serde_json::json;

use super::{FITS, table};

#[test]
fn arrays() {
    table(
        json!({"type": "array", "items": {"type": "string"}, "minItems": 2}),
        &[
            (json!(["a", "b"]), FITS),
            (json!([1]), &[" | [1] | at least 2 items", "[0] | 1 | string"]),
            (json!("a"), &[r#" | "a" | array of string with at least 2 items"#]),
        ],
    );
    table(json!({"maxItems": 1}), &[(json!([1, 2]), &[" | [1,2] | at most 1 item"])]);
    table(json!({"minItems": 1, "maxItems": 2}), &[(json!([]), &[" | [] | 1 to 2 items"])]);
    table(json!({"maxItems": 0}), &[(json!([1]), &[" | [1] | no items"])]);
    table(
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
        &[
            (json!(["a", 1]), FITS),
            (json!(["a"]), FITS),
            (json!([1, "a", 2]), &[r#" | [1,"a",2] | at most 2 items"#, "[0] | 1 | string", r#"[1] | "a" | integer"#]),
            (json!({}), &[" | {} | array [string, integer]"]),
        ],
    );
    table(
        json!({"type": "array", "prefixItems": [true], "items": {"type": "integer"}}),
        &[(json!(["a", 1, "b"]), &[r#"[2] | "b" | integer"#]), (json!(null), &[" | null | array [any value, …]"])],
    );
    table(
        json!({"prefixItems": [true, true], "items": false, "maxItems": 1}),
        &[(json!([1, 2]), &[" | [1,2] | at most 1 item"])],
    );
    table(
        json!({"uniqueItems": true}),
        &[
            (json!([1, 2, [1], [[1]], {"a": 1}, {"b": 1}, {"a": 2}]), FITS),
            (
                json!([{"a": 1, "b": 2}, 1, 1.0, {"a": 1, "b": 2.0}, 1]),
                &[
                    "[2] | 1.0 | unique item; it repeats `[1]`",
                    r#"[3] | {"a":1,"b":2.0} | unique item; it repeats `[0]`"#,
                    "[4] | 1 | unique item; it repeats `[1]`",
                ],
            ),
        ],
    );
}

#[test]
fn contained_items() {
    table(
        json!({"contains": {"type": "integer", "minimum": 5}}),
        &[(json!([1, 6]), FITS), (json!([1]), &[" | [1] | at least 1 item that fits: integer of at least 5"])],
    );
    table(
        json!({"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}),
        &[
            (json!([1, 2, "a"]), FITS),
            (json!([1]), &[" | [1] | 2 to 3 items that fit: integer"]),
            (json!([1, 2, 3, 4]), &[" | [1,2,3,4] | 2 to 3 items that fit: integer"]),
        ],
    );
    table(json!({"contains": true, "minContains": 0}), &[(json!([]), FITS)]);
    table(
        json!({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}),
        &[(json!([1, 1]), &[" | [1,1] | at most 1 item that fits: exactly 1"])],
    );
    table(json!({"minContains": 5}), &[(json!([]), FITS)]);
}

#[test]
fn objects() {
    let schema = json!({
        "type": "object",
        "properties": {"limit": {"type": "integer", "minimum": 1}, "offset": {"type": "integer"}},
        "required": ["limit"],
        "additionalProperties": false,
    });
    table(
        schema,
        &[
            (json!({"limit": 1}), FITS),
            (json!({}), &["limit | - | missing, expected integer of at least 1"]),
            (
                json!({"limt": 5, "offset": "x"}),
                &[
                    "limit | - | missing, expected integer of at least 1",
                    "limt | 5 | unknown property; did you mean `limit`?",
                    r#"offset | "x" | integer"#,
                ],
            ),
            (json!({"limit": 1, "limt": 1}), &["limt | 1 | unknown property; known are `limit`, `offset`"]),
            (json!([]), &[" | [] | object with `limit`"]),
        ],
    );
    table(json!({"required": ["a"]}), &[(json!({}), &["a | - | missing, expected any value"]), (json!(1), FITS)]);
    table(
        json!({"additionalProperties": false}),
        &[(json!({"a": 1}), &["a | 1 | unknown property; none is allowed here"])],
    );
    table(
        json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        &[(json!({"a": 1, "b": "x"}), &[r#"b | "x" | integer"#]), (json!(0), &[" | 0 | object of integer"])],
    );
    table(
        json!({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false}),
        &[
            (json!({"x-a": "1"}), FITS),
            (
                json!({"x-a": 1, "y": 2}),
                &[r#"["x-a"] | 1 | string"#, "y | 2 | unknown property; names must match one of `^x-`"],
            ),
        ],
    );
    table(json!({"properties": {"gone": false}}), &[(json!({"gone": 1}), &["gone | 1 | nothing; leave it out"])]);
}

#[test]
fn names_counts_and_dependencies() {
    table(
        json!({"propertyNames": {"maxLength": 2}}),
        &[(json!({"abc": 1}), &[r#"abc | "abc" | property name that fits: string of at most 2 characters"#])],
    );
    table(json!({"minProperties": 2}), &[(json!({"a": 1}), &[r#" | {"a":1} | at least 2 properties"#])]);
    table(json!({"maxProperties": 1}), &[(json!({"a": 1, "b": 2}), &[r#" | {"a":1,"b":2} | at most 1 property"#])]);
    table(
        json!({"properties": {"cvc": {"type": "string"}}, "dependentRequired": {"card": ["cvc", "name"]}}),
        &[
            (json!({"cvc": "1"}), FITS),
            (
                json!({"card": 1}),
                &[
                    "cvc | - | missing, expected string, required because `card` is given",
                    "name | - | missing, expected any value, required because `card` is given",
                ],
            ),
        ],
    );
    table(
        json!({"dependentSchemas": {"a": {"properties": {"b": {"type": "string"}}}}}),
        &[(json!({"b": 1}), FITS), (json!({"a": 0, "b": 1}), &["b | 1 | string"])],
    );
}

#[test]
fn properties_that_no_part_knows() {
    let shape = json!([
        {"properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"properties": {"kind": {"const": "dot"}}, "required": ["kind"]}
    ]);
    let schema = |rest| {
        json!({
            "type": "object", "properties": {"id": {"type": "integer"}}, "oneOf": shape, "unevaluatedProperties": rest
        })
    };
    table(
        schema(json!({"type": "integer"})),
        &[
            (json!({"kind": "circle", "r": 1.5, "id": 1, "more": 2}), FITS),
            (json!({"kind": "dot", "more": "x"}), &[r#"more | "x" | integer"#]),
            // Of the branch that does not apply nothing is known.
            (json!({"kind": "dot", "r": 1.5}), &["r | 1.5 | integer"]),
        ],
    );
    table(
        schema(json!(false)),
        &[
            (json!({"kind": "dot", "id": 1}), FITS),
            (json!({"kind": "dot", "x": 1}), &["x | 1 | unknown property; known are `id`, `kind`"]),
        ],
    );
    table(schema(json!(true)), &[(json!({"kind": "dot", "x": 1}), FITS)]);
}
