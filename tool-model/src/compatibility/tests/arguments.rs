//! Changes of arguments.

use serde_json::{Value, json};

use super::{argument_changes, arguments_changes, tool_changes};

#[test]
fn added_and_removed_arguments() {
    let host = json!({"host": {"type": "string", "required": true}});
    let more = |required: bool| json!({"host": {"type": "string", "required": true}, "limit": {"type": "integer", "required": required}});
    assert_eq!(arguments_changes(host.clone(), more(false)), ["+ arguments.limit: is new and optional"]);
    assert_eq!(arguments_changes(host.clone(), more(true)), ["- arguments.limit: is new and required"]);
    assert_eq!(
        arguments_changes(more(false), host),
        ["- arguments.limit: was removed; calls that send it are refused"]
    );
    assert_eq!(arguments_changes(more(false), more(true)), ["- arguments.limit: is now required"]);
    assert_eq!(arguments_changes(more(true), more(false)), ["+ arguments.limit: is now optional"]);
}

#[test]
fn a_renamed_argument_is_one_change() {
    let named = |name: &str| json!({name: {"type": "integer", "required": false}, "host": {"type": "string"}});
    for name in ["limits", "count"] {
        let expected = format!("- arguments.limit: was probably renamed to `{name}`; calls that send it are refused");
        assert_eq!(arguments_changes(named("limit"), named(name)), [expected]);
    }
    let other = json!({"limits": {"type": "boolean", "required": false}, "host": {"type": "string"}});
    assert_eq!(
        arguments_changes(named("limit"), other),
        ["- arguments.limit: was removed; calls that send it are refused", "+ arguments.limits: is new and optional"]
    );
}

#[test]
fn types() {
    let of = |name: &str| json!({"type": name});
    assert_eq!(argument_changes(of("integer"), of("number")), ["+ arguments.x: can also be number with a fraction"]);
    assert_eq!(
        argument_changes(of("number"), of("integer")),
        ["- arguments.x: can no longer be number with a fraction"]
    );
    assert_eq!(argument_changes(of("string"), of("integer")), ["- arguments.x: must be integer; it was string"]);
    assert_eq!(argument_changes(of("any"), of("integer")), ["- arguments.x: must be integer; it was any value"]);
    assert_eq!(argument_changes(of("integer"), of("any")), ["+ arguments.x: can be any value; it was integer"]);
}

#[test]
fn values() {
    let of = |values: &[&str]| json!({"type": "string", "enum": values});
    assert_eq!(argument_changes(of(&["a", "b"]), of(&["a", "c", "b"])), [r#"+ arguments.x: now includes "c""#]);
    assert_eq!(argument_changes(of(&["a", "b"]), of(&["a"])), [r#"- arguments.x: no longer includes "b""#]);
    assert_eq!(
        argument_changes(of(&["a", "b"]), of(&["b", "a"])),
        ["~ arguments.x: lists its values in a different order"]
    );
    assert_eq!(
        argument_changes(json!({"type": "string"}), of(&["a", "b"])),
        [r#"- arguments.x: must be one of "a", "b"; it was string"#]
    );
    assert_eq!(
        argument_changes(of(&["a", "b"]), json!({"type": "string", "maxLength": 3})),
        [r#"+ arguments.x: can be string of at most 3 characters; it was one of "a", "b""#]
    );
    assert_eq!(
        argument_changes(of(&["a", "bcde"]), json!({"type": "string", "maxLength": 3})),
        [
            r#"- arguments.x: no longer includes "bcde""#,
            r#"+ arguments.x: can be string of at most 3 characters; it was one of "a", "bcde""#
        ]
    );
}

#[test]
fn bounds_and_patterns() {
    let number = |key: &str, bound: i64| json!({"type": "integer", key: bound});
    assert_eq!(
        argument_changes(number("maximum", 100), number("maximum", 50)),
        ["- arguments.x: must be at most 50; it was at most 100"]
    );
    assert_eq!(
        argument_changes(number("maximum", 50), number("exclusiveMaximum", 50)),
        ["- arguments.x: must be at most 49; it was at most 50"]
    );
    let fraction = |key: &str| json!({"type": "number", key: 50});
    assert_eq!(
        argument_changes(fraction("maximum"), fraction("exclusiveMaximum")),
        ["- arguments.x: must be less than 50; it was at most 50"]
    );
    assert_eq!(
        argument_changes(number("minimum", 1), number("minimum", 0)),
        ["+ arguments.x: must be at least 0; it was at least 1"]
    );
    assert_eq!(
        argument_changes(number("minimum", -1), json!({"type": "integer"})),
        ["+ arguments.x: need not be at least -1"]
    );
    assert_eq!(
        argument_changes(number("multipleOf", 6), number("multipleOf", 3)),
        ["+ arguments.x: must be a multiple of 3; it was of 6"]
    );
    let text = |key: &str, value: serde_json::Value| json!({"type": "string", key: value});
    assert_eq!(
        argument_changes(text("maxLength", json!(10)), text("maxLength", json!(5))),
        ["- arguments.x: must have at most 5 characters; it was 10"]
    );
    assert_eq!(
        argument_changes(json!({"type": "string"}), text("pattern", json!("^a"))),
        ["- arguments.x: must match `^a`"]
    );
    assert_eq!(
        argument_changes(text("pattern", json!("^a")), text("pattern", json!("^b"))),
        ["- arguments.x: must match `^b`; it was `^a`"]
    );
    assert_eq!(
        argument_changes(text("format", json!("date")), json!({"type": "string"})),
        ["+ arguments.x: need not have the format date"]
    );
}

#[test]
fn properties_behind_a_reference() {
    let tool = |quantity: serde_json::Value, required: serde_json::Value| {
        json!({
            "arguments": {"order": {"type": "object", "required": true, "$ref": "#/$defs/Order"}},
            "$defs": {
                "Order": {"type": "object", "properties": {
                    "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}}
                }},
                "Line": {"type": "object", "properties": {
                    "sku": {"type": "string"}, "quantity": quantity
                }, "required": required}
            }
        })
    };
    let integer = json!({"type": "integer", "maximum": 9});
    assert_eq!(
        tool_changes(
            tool(integer.clone(), json!(["sku"])),
            tool(json!({"type": "integer"}), json!(["sku", "quantity"]))
        ),
        [
            "- arguments.order.lines[].quantity: is now required",
            "+ arguments.order.lines[].quantity: need not be at most 9"
        ]
    );
}

#[test]
fn a_recursive_type_terminates() {
    let tree = |value: &str| {
        json!({
            "arguments": {"tree": {"type": "object", "required": true, "$ref": "#/$defs/Tree"}},
            "$defs": {"Tree": {"type": "object", "properties": {
                "value": {"type": value},
                "parent": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
            }, "required": ["value"]}}
        })
    };
    assert_eq!(
        tool_changes(tree("integer"), tree("number")),
        ["+ arguments.tree.value: can also be number with a fraction"]
    );
    assert_eq!(
        tool_changes(tree("number"), tree("integer"))[0],
        "- arguments.tree.value: can no longer be number with a fraction"
    );
}

/// Two notations of one recursive type, whose references are never at the same depth.
#[test]
fn recursions_of_different_depth_terminate() {
    let tool = |defs: serde_json::Value| json!({"arguments": {"x": {"type": "array", "required": true, "$ref": "#/$defs/A"}}, "$defs": defs});
    let even = json!({"A": {"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/A"}}}});
    let odd = json!({
        "A": {"type": "array", "items": {"$ref": "#/$defs/B"}},
        "B": {"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/B"}}}
    });
    assert_eq!(tool_changes(tool(even), tool(odd)), ["~ : is written differently and means the same"]);
}

#[test]
fn nullable_properties() {
    let tool = |inner: serde_json::Value| {
        json!({
            "arguments": {"x": {"type": "object", "required": true, "properties": {"y": inner}}},
            "$defs": {"Y": {"type": "object", "properties": {"z": {"type": "string"}}}}
        })
    };
    let plain = || tool(json!({"$ref": "#/$defs/Y"}));
    let nullable = || tool(json!({"anyOf": [{"$ref": "#/$defs/Y"}, {"type": "null"}]}));
    assert_eq!(tool_changes(plain(), nullable()), ["+ arguments.x.y: can also be null"]);
    assert_eq!(tool_changes(nullable(), plain()), ["- arguments.x.y: can no longer be null"]);
}

#[test]
fn alternatives_are_matched_by_their_tag() {
    let circle = |radius: &str| {
        json!({"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": radius}},
            "required": ["kind", "radius"]})
    };
    let square = || {
        json!({"type": "object", "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
            "required": ["kind", "side"]})
    };
    let shape = |forms: &[serde_json::Value]| json!({"type": "object", "oneOf": forms});
    assert_eq!(
        argument_changes(shape(&[circle("integer"), square()]), shape(&[square(), circle("number")])),
        ["+ arguments.x(circle).radius: can also be number with a fraction"]
    );
    assert_eq!(
        argument_changes(shape(&[circle("integer")]), shape(&[circle("integer"), square()])),
        [r#"+ arguments.x: can also be object with `kind` "square""#]
    );
    assert_eq!(
        argument_changes(shape(&[circle("integer"), square()]), shape(&[circle("integer")])),
        [r#"- arguments.x: can no longer be object with `kind` "square""#]
    );
}

#[test]
fn overlapping_alternatives_are_not_trusted() {
    let of = |most: u32| json!({"type": "integer", "oneOf": [{"maximum": most}, {"minimum": 5}]});
    assert_eq!(
        argument_changes(of(3), of(7)),
        ["- arguments.x: has different alternatives (`oneOf`) that may overlap"]
    );
}

#[test]
fn texts_and_defaults() {
    let of = |text: &str, default: u32| json!({"type": "integer", "default": default, "description": text});
    assert_eq!(
        argument_changes(of("How many.", 10), of("How many at most.", 20)),
        [
            "+ arguments.x: its default is 20; it was 10",
            r#"~ arguments.x: its description is "How many at most."; it was "How many.""#,
        ]
    );
}

/// A free-form object could have any value under the new name; a struct could not.
#[test]
fn an_added_property() {
    let with = |rest: serde_json::Value| json!({"x": {"type": "object", "required": true, "properties": rest}});
    let free = json!({"x": {"type": "object", "required": true}});
    assert_eq!(
        arguments_changes(
            with(json!({"a": {"type": "string"}})),
            with(json!({"a": {"type": "string"}, "b": {"type": "string"}}))
        ),
        ["+ arguments.x.b: is new and optional"]
    );
    assert_eq!(
        arguments_changes(free, with(json!({"b": {"type": "string"}}))),
        ["- arguments.x.b: must be string; it was any value"]
    );
}

/// The content of an `Option<T>` is compared even if its name or keys have changed.
#[test]
fn a_change_inside_an_optional_struct() {
    let item = |name: &str, required: serde_json::Value| {
        let size = json!({"type": "object", "required": required, "additionalProperties": false, "properties": {
            "outerHeight": {"type": "integer"}, "outerWidth": {"type": "integer"},
        }});
        let item = json!({"type": "object", "properties": {
            "size": {"anyOf": [{"$ref": format!("#/$defs/{name}")}, {"type": "null"}]},
        }});
        json!({
            "arguments": {"item": {"type": "object", "required": true, "$ref": "#/$defs/Item"}},
            "$defs": {"Item": item, name: size},
        })
    };
    let (one, both) = (json!(["outerWidth"]), json!(["outerHeight", "outerWidth"]));
    let expected = ["- arguments.item.size(Dimensions).outerHeight: is now required"];
    assert_eq!(tool_changes(item("Dimensions", one.clone()), item("Dimensions", both.clone())), expected);
    assert_eq!(tool_changes(item("Dimensions", one), item("Size", both)), expected);
}

#[test]
fn a_change_inside_an_optional_enum() {
    let item = |values: serde_json::Value| json!({"type": "any", "required": true, "anyOf": [{"type": "string", "enum": values}, {"type": "null"}]});
    assert_eq!(
        argument_changes(item(json!(["a", "b", "c"])), item(json!(["a", "b", "d"]))),
        ["- arguments.x: no longer includes \"c\"", "+ arguments.x: now includes \"d\""]
    );
}

const SAME: &str = "~ : is written differently and means the same";

/// Returns the changes of the property `p` of the argument `x`.
fn property_changes(old: Value, new: Value) -> Vec<String> {
    let with = |p: Value| json!({"type": "object", "required": true, "properties": {"p": p}});
    argument_changes(with(old), with(new))
}

/// A newtype is in an `anyOf` where its content is in a list of types.
#[test]
fn a_newtype_equals_its_content() {
    let list = json!({"type": ["integer", "null"], "minimum": 0, "maximum": 255});
    let forms = |most: u32| json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": most}, {"type": "null"}]});
    assert_eq!(property_changes(list.clone(), forms(255)), [SAME]);
    assert_eq!(property_changes(forms(255), list.clone()), [SAME]);
    assert_eq!(
        property_changes(list.clone(), forms(100)),
        ["- arguments.x.p: must be at most 100; it was at most 255"]
    );
    assert_eq!(property_changes(forms(100), list), ["+ arguments.x.p: must be at most 255; it was at most 100"]);
    let nested = json!({"anyOf": [{"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "object"}]});
    assert_eq!(property_changes(json!({"type": ["object", "null", "integer"]}), nested), [SAME]);
}

#[test]
fn a_nullable_definition_is_one_of_several_forms() {
    let tool = |p: Value| {
        json!({
            "arguments": {"x": {"type": "object", "required": true, "properties": {"p": p}}},
            "$defs": {
                "Level": {"type": "integer"},
                "Maybe": {"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}]},
            },
        })
    };
    let behind = || tool(json!({"anyOf": [{"$ref": "#/$defs/Maybe"}, {"type": "object"}]}));
    let here = |types: Value| tool(json!({"type": types}));
    assert_eq!(tool_changes(behind(), here(json!(["integer", "null", "object"]))), [SAME]);
    assert_eq!(tool_changes(behind(), here(json!(["integer", "object"]))), ["- arguments.x.p: can no longer be null"]);
}

#[test]
fn any_value_is_wider() {
    let object = json!({"type": "object", "required": true, "properties": {"p": {"type": "integer"}}});
    let any = json!({"type": "any", "required": true});
    assert_eq!(argument_changes(object.clone(), any.clone()), ["+ arguments.x: can be any value; it was object"]);
    assert_eq!(argument_changes(any, object), ["- arguments.x: must be object; it was any value"]);
    let either = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
    assert_eq!(property_changes(either, json!({})), ["+ arguments.x.p: can be any value; it was integer or null"]);
}

/// A schema has no aliases.
#[test]
fn a_renamed_field_may_have_its_old_name_as_an_alias() {
    let with = |name: &str, closed: bool| {
        let mut object = json!({"type": "object", "required": true, "properties": {name: {"type": "integer"}}});
        if closed {
            object["additionalProperties"] = json!(false);
        }
        object
    };
    assert_eq!(
        argument_changes(with("old", false), with("new", false)),
        [
            r#"- arguments.x.old: was probably renamed to `new`; its value is ignored, unless `new` has `#[serde(alias = "old")]`"#
        ]
    );
    assert_eq!(
        argument_changes(with("old", true), with("new", true)),
        [
            r#"- arguments.x.old: was probably renamed to `new`; calls that send it are refused, unless `new` has `#[serde(alias = "old")]`"#
        ]
    );
}

/// `u64` and `i64` have no upper bound in their schemas.
#[test]
fn an_unsigned_integer_that_becomes_signed_may_lose_its_largest_values() {
    let (unsigned, signed) = (json!({"type": "integer", "minimum": 0}), json!({"type": "integer"}));
    let found = argument_changes(unsigned, signed);
    let expected =
        "+ arguments.x: need not be at least 0; if its type is `i64` now, it must be at most 9223372036854775807";
    assert_eq!(found, [expected]);
    let bounded = |least: i64| json!({"type": "integer", "minimum": least, "maximum": 9});
    assert_eq!(argument_changes(bounded(0), bounded(-9)), ["+ arguments.x: must be at least -9; it was at least 0"]);
}

#[test]
fn keys_of_maps() {
    let map = |pattern: &str, most: u32| {
        json!({"type": "object", "additionalProperties": false,
            "patternProperties": {pattern: {"type": "integer", "maximum": most}}})
    };
    let texts = |most: u32| json!({"type": "object", "additionalProperties": {"type": "integer", "maximum": most}});
    let words = |most: u32| {
        json!({"type": "object", "additionalProperties": false,
            "properties": {"a": {"type": "integer", "maximum": most}, "b": {"type": "integer", "maximum": most}}})
    };
    let (unsigned, signed) = (r"^\d+$", r"^-?\d+$");
    let wider = "+ arguments.x.*: must be at most 9; it was at most 5";
    let narrower = "- arguments.x.*: must be at most 5; it was at most 9";
    assert_eq!(argument_changes(map(unsigned, 5), map(unsigned, 9)), [wider]);
    assert_eq!(
        argument_changes(map(unsigned, 5), texts(9)),
        [r"+ arguments.x: takes any property name; it was one that matches `^\d+$`", wider]
    );
    assert_eq!(
        argument_changes(texts(9), map(signed, 5)),
        [r"- arguments.x: takes only property names that match `^-?\d+$`", narrower]
    );
    assert_eq!(
        argument_changes(map(unsigned, 5), map(signed, 5)),
        [r"+ arguments.x: takes property names that match `^-?\d+$`; it was `^\d+$`"]
    );
    assert_eq!(
        argument_changes(map(signed, 5), map(unsigned, 5)),
        [r"- arguments.x: takes property names that match `^\d+$`; it was `^-?\d+$`"]
    );
    assert_eq!(
        argument_changes(map("^a", 5), map("^b", 5)),
        ["- arguments.x: takes property names that match `^b`; it was `^a`"]
    );
    assert_eq!(argument_changes(words(5), texts(5)), ["+ arguments.x: allows unknown properties"]);
    let found = argument_changes(words(9), texts(5));
    assert!(found.iter().any(|line| line == "- arguments.x.a: must be at most 5; it was at most 9"), "{found:?}");
}

#[test]
fn bounds_of_integers_are_the_same_in_both_forms() {
    let of = |type_name: &str, key: &str, bound: f64| json!({"type": type_name, key: bound});
    for (was, is) in [
        (of("integer", "exclusiveMinimum", 0.0), of("integer", "minimum", 1.0)),
        (of("integer", "exclusiveMaximum", 0.5), of("integer", "maximum", 0.0)),
        (of("integer", "minimum", -0.5), of("integer", "exclusiveMinimum", -1.0)),
    ] {
        assert_eq!(property_changes(was.clone(), is.clone()), [SAME], "{was} {is}");
    }
    assert_eq!(
        property_changes(of("number", "exclusiveMinimum", 0.0), of("number", "minimum", 1.0)),
        ["- arguments.x.p: must be at least 1; it was more than 0"]
    );
}

#[test]
fn the_parts_of_an_object_are_joined() {
    let part = |name: &str| json!({"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]});
    let whole = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["b", "a"]});
    assert_eq!(property_changes(json!({"allOf": [part("a"), part("b")]}), whole.clone()), [SAME]);
    assert_eq!(property_changes(whole, json!({"allOf": [part("a")]})).len(), 1, "a part that is gone");
    // Each closed part refuses the other's properties.
    let closed = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false});
    let found = property_changes(closed.clone(), json!({"allOf": [closed, part("b")]}));
    assert!(found.iter().any(|line| line.starts_with('-')), "{found:?}");
}

/// Schemars lists undocumented variants together, and each documented one separately.
#[test]
fn a_documented_variant_is_still_one() {
    let data = json!({"type": "object", "properties": {"C": {"type": "integer"}}, "required": ["C"], "additionalProperties": false});
    let together = json!({"oneOf": [{"type": "string", "enum": ["A", "B"]}, data]});
    let apart = json!({"oneOf": [{"type": "string", "enum": ["B"]}, data, {"type": "string", "const": "A"}]});
    assert_eq!(property_changes(together.clone(), apart.clone()), [SAME]);
    assert_eq!(property_changes(apart, together), [SAME]);
}

#[test]
fn a_variant_with_data_is_no_longer_a_string() {
    let data = json!({"type": "object", "properties": {"B": {"type": "integer"}}, "required": ["B"], "additionalProperties": false});
    let found = property_changes(
        json!({"type": "string", "enum": ["A", "B"]}),
        json!({"oneOf": [{"type": "string", "enum": ["A"]}, data]}),
    );
    assert!(found.contains(&r#"- arguments.x.p: no longer includes "B""#.to_owned()), "{found:?}");
}

/// A type that is narrowed in one place is reported once.
#[test]
fn a_narrower_alternative_replaces_a_wider_one() {
    let of = |types: Value| json!({"type": types});
    assert_eq!(
        property_changes(of(json!(["number", "boolean"])), of(json!(["integer", "boolean"]))),
        ["- arguments.x.p: can no longer be number with a fraction"]
    );
    let words = |words: Value| json!({"anyOf": [{"enum": words}, {"type": "object"}]});
    assert_eq!(
        property_changes(words(json!(["a", null])), of(json!(["object", "null"]))),
        [r#"- arguments.x.p: no longer includes "a""#]
    );
}
