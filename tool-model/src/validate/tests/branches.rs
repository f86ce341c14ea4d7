//! Tests of the choice of the alternative that an error explains.

use serde_json::{Value, json};

use super::{FITS, lines, no_defs, table, table_with, validator};

#[test]
fn the_only_branch_of_the_right_type_is_meant() {
    let definitions =
        json!({"Order": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}});
    table_with(
        json!({"anyOf": [{"$ref": "#/$defs/Order"}, {"type": "null"}]}),
        definitions,
        &[
            (json!(null), FITS),
            (json!({"id": "x"}), &[r#"id | "x" | integer"#]),
            (json!({}), &["id | - | missing, expected integer"]),
            (json!("x"), &[r#" | "x" | object Order or null"#]),
        ],
    );
    table(
        json!({"anyOf": [{"type": "integer", "minimum": 5}, {"type": "string", "format": "date"}, {"type": "array"}]}),
        &[
            (json!(3), &[" | 3 | integer of at least 5"]),
            (json!("x"), &[r#" | "x" | string in the format date"#]),
            (json!(true), &[" | true | one of: integer of at least 5; string in the format date; array"]),
        ],
    );
    table(
        json!({"oneOf": [{"const": "asc", "description": "Up."}, {"type": "string", "enum": ["desc", "none"]}]}),
        &[(json!("up"), &[r#" | "up" | one of "asc", "desc", "none""#])],
    );
    table(
        json!({"anyOf": [{"type": "string", "maxLength": 1}, {"type": "string", "format": "uuid"}]}),
        &[(json!("xx"), &[r#" | "xx" | one of: string of at most 1 character; string in the format uuid"#])],
    );
}

fn shapes() -> Value {
    json!({
        "Circle": {
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "minimum": 0}},
            "required": ["kind", "radius"],
        },
        "Square": {
            "type": "object",
            "properties": {"kind": {"enum": ["square", "box"]}, "side": {"type": "number"}},
            "required": ["kind", "side"],
        },
    })
}

#[test]
fn the_branch_with_the_matching_tag_is_meant() {
    let either = json!({"oneOf": [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Square"}, {"type": "null"}]});
    table_with(
        either,
        shapes(),
        &[
            (json!({"kind": "circle", "radius": 1}), FITS),
            (json!({"kind": "circle", "radius": -1}), &["radius | -1 | number of at least 0"]),
            (json!({"kind": "box"}), &["side | - | missing, expected number"]),
            (json!({"kind": "oval", "side": 1}), &[r#"kind | "oval" | one of "circle", "square", "box""#]),
            (json!({"side": 1}), &[r#"kind | - | missing, expected one of "circle", "square", "box""#]),
            (json!(4), &[" | 4 | one of: object Circle; object Square; null"]),
        ],
    );
    let inline = json!({"oneOf": [
        {"type": "object", "properties": {"t": {"const": 1}, "a": true}, "required": ["t", "a"]},
        {"type": "object", "properties": {"t": {"const": 2}}, "required": ["t"], "additionalProperties": false},
    ]});
    table(
        inline,
        &[
            (json!({"t": 1.0}), &["a | - | missing, expected any value"]),
            (json!({"t": 2, "x": 0}), &["x | 0 | unknown property; known are `t`"]),
            (json!("x"), &[r#" | "x" | one of: object with `t` 1; object with `t` 2"#]),
        ],
    );
}

#[test]
fn the_branch_whose_properties_are_there_is_meant() {
    let variant = |name: &str| {
        let properties = json!({name: {"type": "number"}});
        json!({"type": "object", "properties": properties, "required": [name], "additionalProperties": false})
    };
    let external = json!({"oneOf": [{"type": "string", "enum": ["None"]}, variant("Circle"), variant("Square")]});
    table(
        external,
        &[
            (json!("None"), FITS),
            (json!({"Square": 2}), FITS),
            (json!({"Square": "2"}), &[r#"Square | "2" | number"#]),
            (json!({"Oval": 1}), &[r#" | {"Oval":1} | one of: object with `Circle`; object with `Square`; "None""#]),
            (json!("Oval"), &[r#" | "Oval" | one of: object with `Circle`; object with `Square`; "None""#]),
            (json!("Circle"), &[r#" | "Circle" | object with `Circle`"#]),
            (json!({"None": null}), &[r#" | {"None":null} | exactly "None""#]),
        ],
    );
    let nullable = json!({"anyOf": [{"$ref": "#/$defs/Shape"}, {"type": "null"}]});
    table_with(
        nullable,
        json!({"Shape": {"oneOf": [{"const": "None"}, variant("Circle")]}}),
        &[
            (json!("Circle"), &[r#" | "Circle" | object with `Circle`"#]),
            (json!({"None": {}}), &[r#" | {"None":{}} | exactly "None""#]),
            (
                json!({"Oval": 1}),
                &["Circle | - | missing, expected number", "Oval | 1 | unknown property; known are `Circle`"],
            ),
        ],
    );
}

/// The other alternatives are not forgotten because only one of them is of the right type.
#[test]
fn listed_values_are_not_the_only_alternative() {
    table(
        json!({"anyOf": [{"enum": ["auto"]}, {"type": "integer"}]}),
        &[(json!("wide"), &[r#" | "wide" | one of: integer; "auto""#])],
    );
    table(
        json!({"anyOf": [{"enum": ["auto", "none"]}, {"type": "null"}]}),
        &[(json!("wide"), &[r#" | "wide" | one of "auto", "none""#])],
    );
    // Neither text nor object names a variant here.
    let free = json!({"anyOf": [
        {"enum": ["a"]},
        {"type": "string", "format": "date"},
        {"type": "object", "properties": {"key": {"type": "integer"}}, "required": ["key"]},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ]});
    let all = r#"one of: string in the format date; object with `key`; object of integer; "a""#;
    table(
        free,
        &[
            (json!("key"), &[&*format!(r#" | "key" | {all}"#)]),
            (json!({"a": "x"}), &[&*format!(r#" | {{"a":"x"}} | {all}"#)]),
        ],
    );
}

#[test]
fn a_recursive_definition_is_named_inside_of_itself() {
    let definitions = json!({"Json": {"anyOf": [
        {"type": "number"},
        {"type": "string"},
        {"type": "array", "items": {"$ref": "#/$defs/Json"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/Json"}},
    ]}});
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/Json"}}, "required": ["a"]});
    table_with(
        schema,
        definitions,
        &[
            (json!({}), &["a | - | missing, expected one of: number; string; array of Json; object of Json"]),
            (json!({"a": {"x": [true]}}), &["a.x[0] | true | one of: number; string; array of Json; object of Json"]),
        ],
    );
}

/// A type may accept less than its schema. `check_closed` names undeclared properties as if the schema rejected them.
#[test]
fn properties_that_are_not_named_can_be_refused() {
    let variant = |name: &str| json!({"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]});
    let bound = json!({"oneOf": [variant("Included"), variant("Excluded"), {"const": "Unbounded"}]});
    let value = json!({"Included": 1, "x": 2});
    let validator = validator(&bound, no_defs());
    assert!(validator.is_valid(&value) && validator.check(&value, "").is_empty());
    assert_eq!(lines(&validator.check_closed(&value, "")), ["x | 2 | unknown property; known are `Included`"]);
    assert!(validator.check_closed(&json!({"Included": 1}), "").is_empty());
}

#[test]
fn alternatives_without_a_common_tag() {
    let one_tagged = json!({"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind"]},
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        {"type": "object", "properties": {"free": {"type": "string"}}, "minProperties": 4},
    ]});
    table(
        one_tagged,
        &[
            (json!({"kind": "a", "x": 1}), &["x | 1 | string"]),
            (json!({"kind": "a", "x": 1, "name": 2}), &["x | 1 | string"]),
            (json!({"name": 1}), &["name | 1 | string"]),
            (
                json!({"kind": "b"}),
                &[concat!(
                    r#" | {"kind":"b"} | one of: object with `kind` "a"; object with `name`; "#,
                    "object with at least 4 properties",
                )],
            ),
        ],
    );
    let same_values = |unit: &str| {
        json!({
            "type": "object",
            "properties": {"unit": {"enum": ["c", "f"]}, unit: {"type": "number"}},
            "required": ["unit", unit],
        })
    };
    table(
        json!({"oneOf": [same_values("low"), same_values("high")]}),
        &[
            (json!({"unit": "c", "high": "x"}), &[r#"high | "x" | number"#]),
            (
                json!({"unit": "c"}),
                &[r#" | {"unit":"c"} | one of: object with `unit`, `low`; object with `unit`, `high`"#],
            ),
        ],
    );
}

#[test]
fn types_are_seen_through_references_and_combinations() {
    let definitions = json!({
        "Text": {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]},
        "Count": {"allOf": [{"type": "integer"}, {"minimum": 5}]},
        "Listed": {"oneOf": [{"const": [1]}, {"enum": [true]}]},
    });
    let any = json!({"anyOf": [{"$ref": "#/$defs/Text"}, {"$ref": "#/$defs/Count"}, {"$ref": "#/$defs/Listed"}]});
    table_with(
        any,
        definitions,
        &[
            (json!("xx"), &[r#" | "xx" | string of at most 1 character"#]),
            (json!(1), &[" | 1 | number of at least 5"]),
            (json!([2]), &[" | [2] | one of [1], true"]),
            (
                json!({}),
                &[" | {} | one of: string of at most 1 character or null; integer and number of at least 5; \
                   one of [1], true"],
            ),
        ],
    );
}
