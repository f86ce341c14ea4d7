//! Rejected schemas and ignored keywords.

use serde_json::{Value, json};

use super::{FITS, Validator, defs, no_defs, table_with};

pub(super) fn error(schema: Value, definitions: Value) -> String {
    match Validator::new(&schema, &defs(definitions)) {
        Ok(_) => panic!("{schema} should be refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn rejects_keywords_that_cannot_be_enforced() {
    let cases = [
        (json!({"minimum": "x"}), r#"#/minimum: `minimum` must be a number, not "x""#),
        (json!({"exclusiveMinimum": true}), "#/exclusiveMinimum: `exclusiveMinimum` must be a number, not true"),
        (json!({"multipleOf": 0}), "#/multipleOf: `multipleOf` must be a number greater than 0, not 0"),
        (json!({"maxLength": -1}), "#/maxLength: `maxLength` must be a whole number from 0, not -1"),
        (json!({"minItems": 1.5}), "#/minItems: `minItems` must be a whole number from 0, not 1.5"),
        (json!({"enum": "a"}), r#"#/enum: `enum` must be a list of values, not "a""#),
        (json!({"required": true}), "#/required: `required` must be a list of property names, not true"),
        (json!({"required": [1]}), "#/required: `required` must be a list of property names, not [1]"),
        (json!({"uniqueItems": 1}), "#/uniqueItems: `uniqueItems` must be true or false, not 1"),
        (json!({"anyOf": []}), "#/anyOf: `anyOf` must be a list of at least one schema, not []"),
        (json!({"properties": []}), "#/properties: `properties` must be an object of schemas, not []"),
        (
            json!({"dependentRequired": {"a": 1}}),
            r#"#/dependentRequired: `dependentRequired` must be an object of lists of property names, not {"a":1}"#,
        ),
        (json!({"pattern": 1}), "#/pattern: `pattern` must be a string, not 1"),
        (json!({"items": [{}]}), "#/items: a schema must be an object, true or false, not [{}]"),
        (
            json!({"properties": {"a/b": {"not": 3}}}),
            "#/properties/a~1b/not: a schema must be an object, true or false, not 3",
        ),
        (json!({"$ref": "#/$defs/Gone"}), "#/$ref: there is no definition `Gone`"),
        (
            json!({"allOf": [{"unevaluatedItems": false}]}),
            "#/allOf/0/unevaluatedItems: `unevaluatedItems` is not supported; use `prefixItems` and `items`",
        ),
        (json!({"$dynamicRef": "#a"}), "#/$dynamicRef: `$dynamicRef` is not supported; use `$ref` to `#/$defs/NAME`"),
        (json!({"not": {"$id": "x"}}), "#/not/$id: `$id` inside a schema is not supported"),
    ];
    for (schema, expected) in cases {
        assert_eq!(error(schema, no_defs()), expected);
    }
    for reference in ["#", "#/definitions/A", "#/$defs/A/properties/b", "https://example.com", "#/$defs/%zz"] {
        let found = error(json!({"$ref": reference}), no_defs());
        assert!(found.starts_with("#/$ref: `$ref` must be `#/$defs/NAME`"), "{found}");
    }
    for kind in [json!("any"), json!([]), json!(["string", 1]), json!(1)] {
        let found = error(json!({"type": kind}), no_defs());
        assert!(found.starts_with("#/type: `type` must be one of the types string, integer"), "{found}");
    }
    for pattern in ["(", r"\p{L}", "(?=a)", "(a{1000}){1000}"] {
        assert!(error(json!({"pattern": pattern}), no_defs()).contains("is not a usable pattern"), "{pattern}");
        let named = error(json!({"patternProperties": {pattern: true}}), no_defs());
        assert!(named.starts_with("#/patternProperties/"), "{named}");
    }
    let inside = error(json!({"$ref": "#/$defs/A"}), json!({"A": {"items": {"type": "text"}}}));
    assert!(inside.starts_with("#/$defs/A/items/type: "), "{inside}");
}

#[test]
fn annotations_unknown_keywords_and_unused_definitions_are_ignored() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "x", "$comment": "c", "title": "T",
        "description": "d", "default": 1, "examples": [1], "deprecated": true, "readOnly": true, "writeOnly": true,
        "contentEncoding": "base64", "contentMediaType": "text/plain", "x-custom": {"minimum": "x"}, "format": "uint64",
    });
    table_with(schema, json!({"Broken": {"minimum": "x"}}), &[(json!({"any": ["thing"]}), FITS)]);
}

#[test]
fn a_definition_that_only_refers_to_itself_is_refused() {
    let a = || json!({"$ref": "#/$defs/A"});
    let hidden = [
        a(),
        json!({"allOf": [a()]}),
        json!({"anyOf": [{"type": "null"}, a()]}),
        json!({"oneOf": [{"oneOf": [a()]}]}),
        json!({"not": a()}),
        json!({"if": a(), "then": true}),
        json!({"if": true, "else": a()}),
        json!({"dependentSchemas": {"x": a()}}),
        json!({"$ref": "#/$defs/B"}),
    ];
    for definition in hidden {
        let found = error(json!({"items": a()}), json!({"A": definition, "B": {"allOf": [a()]}}));
        assert!(found.contains("refers to itself without descending into the value"), "{found}");
    }
    table_with(a(), json!({"A": {"properties": {"x": a()}, "propertyNames": a()}}), &[(json!({"x": {"x": 1}}), FITS)]);
}
