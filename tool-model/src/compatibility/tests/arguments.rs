//! Arguments: what a caller sends.

use serde_json::json;

use super::{of_argument, of_arguments, of_tool};

#[test]
fn arguments_that_come_and_go() {
    let host = json!({"host": {"type": "string", "required": true}});
    let more = |required: bool| json!({"host": {"type": "string", "required": true}, "limit": {"type": "integer", "required": required}});
    assert_eq!(of_arguments(host.clone(), more(false)), ["+ arguments.limit: is new and optional"]);
    assert_eq!(of_arguments(host.clone(), more(true)), ["- arguments.limit: is new and required"]);
    assert_eq!(of_arguments(more(false), host), ["- arguments.limit: is gone; calls that send it are refused"]);
    assert_eq!(of_arguments(more(false), more(true)), ["- arguments.limit: is now required"]);
    assert_eq!(of_arguments(more(true), more(false)), ["+ arguments.limit: is now optional"]);
}

#[test]
fn a_renamed_argument_is_one_change() {
    let named = |name: &str| json!({name: {"type": "integer", "required": false}, "host": {"type": "string"}});
    for name in ["limits", "count"] {
        let expected = format!("- arguments.limit: was renamed to `{name}`, it seems; calls that send it are refused");
        assert_eq!(of_arguments(named("limit"), named(name)), [expected]);
    }
    let other = json!({"limits": {"type": "boolean", "required": false}, "host": {"type": "string"}});
    assert_eq!(
        of_arguments(named("limit"), other),
        ["- arguments.limit: is gone; calls that send it are refused", "+ arguments.limits: is new and optional"]
    );
}

#[test]
fn types() {
    let of = |name: &str| json!({"type": name});
    assert_eq!(of_argument(of("integer"), of("number")), ["+ arguments.x: can also be number with a fraction"]);
    assert_eq!(of_argument(of("number"), of("integer")), ["- arguments.x: can no longer be number with a fraction"]);
    assert_eq!(of_argument(of("string"), of("integer")), ["- arguments.x: must be integer; it was string"]);
    assert_eq!(of_argument(of("any"), of("integer")), ["- arguments.x: must be integer; it was any value"]);
    assert_eq!(of_argument(of("integer"), of("any")), ["+ arguments.x: can be any value; it was integer"]);
}

#[test]
fn values() {
    let of = |values: &[&str]| json!({"type": "string", "enum": values});
    assert_eq!(of_argument(of(&["a", "b"]), of(&["a", "c", "b"])), [r#"+ arguments.x: now includes "c""#]);
    assert_eq!(of_argument(of(&["a", "b"]), of(&["a"])), [r#"- arguments.x: no longer includes "b""#]);
    assert_eq!(of_argument(of(&["a", "b"]), of(&["b", "a"])), ["~ arguments.x: lists its values in another order"]);
    assert_eq!(
        of_argument(json!({"type": "string"}), of(&["a", "b"])),
        [r#"- arguments.x: must be one of "a", "b"; it was string"#]
    );
    assert_eq!(
        of_argument(of(&["a", "b"]), json!({"type": "string", "maxLength": 3})),
        [r#"+ arguments.x: can be string of at most 3 characters; it was one of "a", "b""#]
    );
    assert_eq!(
        of_argument(of(&["a", "bcde"]), json!({"type": "string", "maxLength": 3})),
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
        of_argument(number("maximum", 100), number("maximum", 50)),
        ["- arguments.x: must be at most 50; it was at most 100"]
    );
    assert_eq!(
        of_argument(number("maximum", 50), number("exclusiveMaximum", 50)),
        ["- arguments.x: must be less than 50; it was at most 50"]
    );
    assert_eq!(
        of_argument(number("minimum", 1), number("minimum", 0)),
        ["+ arguments.x: must be at least 0; it was at least 1"]
    );
    assert_eq!(
        of_argument(number("minimum", 1), json!({"type": "integer"})),
        ["+ arguments.x: need not be at least 1"]
    );
    assert_eq!(
        of_argument(number("multipleOf", 6), number("multipleOf", 3)),
        ["+ arguments.x: must be a multiple of 3; it was of 6"]
    );
    let text = |key: &str, value: serde_json::Value| json!({"type": "string", key: value});
    assert_eq!(
        of_argument(text("maxLength", json!(10)), text("maxLength", json!(5))),
        ["- arguments.x: must have at most 5 characters; it was 10"]
    );
    assert_eq!(
        of_argument(json!({"type": "string"}), text("pattern", json!("^a"))),
        ["- arguments.x: must match `^a`"]
    );
    assert_eq!(
        of_argument(text("pattern", json!("^a")), text("pattern", json!("^b"))),
        ["- arguments.x: must match `^b`; it was `^a`"]
    );
    assert_eq!(
        of_argument(text("format", json!("date")), json!({"type": "string"})),
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
        of_tool(tool(integer.clone(), json!(["sku"])), tool(json!({"type": "integer"}), json!(["sku", "quantity"]))),
        [
            "- arguments.order.lines[].quantity: is now required",
            "+ arguments.order.lines[].quantity: need not be at most 9"
        ]
    );
}

#[test]
fn a_recursive_type_ends() {
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
        of_tool(tree("integer"), tree("number")),
        ["+ arguments.tree.value: can also be number with a fraction"]
    );
    assert_eq!(
        of_tool(tree("number"), tree("integer"))[0],
        "- arguments.tree.value: can no longer be number with a fraction"
    );
}

/// Two ways to write one recursive type, whose references never stand at the same depth.
#[test]
fn a_recursion_that_is_out_of_step_ends() {
    let tool = |defs: serde_json::Value| json!({"arguments": {"x": {"type": "array", "required": true, "$ref": "#/$defs/A"}}, "$defs": defs});
    let even = json!({"A": {"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/A"}}}});
    let odd = json!({
        "A": {"type": "array", "items": {"$ref": "#/$defs/B"}},
        "B": {"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/B"}}}
    });
    assert_eq!(of_tool(tool(even), tool(odd)), ["~ : is written in another way and means the same"]);
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
    assert_eq!(of_tool(plain(), nullable()), ["+ arguments.x.y: can also be null"]);
    assert_eq!(of_tool(nullable(), plain()), ["- arguments.x.y: can no longer be null"]);
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
        of_argument(shape(&[circle("integer"), square()]), shape(&[square(), circle("number")])),
        ["+ arguments.x(circle).radius: can also be number with a fraction"]
    );
    assert_eq!(
        of_argument(shape(&[circle("integer")]), shape(&[circle("integer"), square()])),
        [r#"+ arguments.x: can also be object with `kind` "square""#]
    );
    assert_eq!(
        of_argument(shape(&[circle("integer"), square()]), shape(&[circle("integer")])),
        [r#"- arguments.x: can no longer be object with `kind` "square""#]
    );
}

#[test]
fn overlapping_alternatives_are_not_trusted() {
    let of = |most: u32| json!({"type": "integer", "oneOf": [{"maximum": most}, {"minimum": 5}]});
    assert_eq!(of_argument(of(3), of(7)), ["- arguments.x: has other alternatives (`oneOf`) that may overlap"]);
}

#[test]
fn words_and_defaults() {
    let of = |text: &str, default: u32| json!({"type": "integer", "default": default, "description": text});
    assert_eq!(
        of_argument(of("How many.", 10), of("How many at most.", 20)),
        [
            "+ arguments.x: its default is 20; it was 10",
            r#"~ arguments.x: its description is "How many at most."; it was "How many.""#,
        ]
    );
}

/// A free-form object had whatever it liked under the new name; a struct had not.
#[test]
fn a_property_more() {
    let with = |rest: serde_json::Value| json!({"x": {"type": "object", "required": true, "properties": rest}});
    let free = json!({"x": {"type": "object", "required": true}});
    assert_eq!(
        of_arguments(
            with(json!({"a": {"type": "string"}})),
            with(json!({"a": {"type": "string"}, "b": {"type": "string"}}))
        ),
        ["+ arguments.x.b: is new and optional"]
    );
    assert_eq!(
        of_arguments(free, with(json!({"b": {"type": "string"}}))),
        ["- arguments.x.b: must be string; it was any value", "+ arguments.x.b: is new and optional"]
    );
}

/// What `Option<T>` holds is looked into, also where it has another name or other keys.
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
    assert_eq!(of_tool(item("Dimensions", one.clone()), item("Dimensions", both.clone())), expected);
    assert_eq!(of_tool(item("Dimensions", one), item("Size", both)), expected);
}

#[test]
fn a_change_inside_an_optional_enum() {
    let item = |values: serde_json::Value| json!({"type": "any", "required": true, "anyOf": [{"type": "string", "enum": values}, {"type": "null"}]});
    assert_eq!(
        of_argument(item(json!(["a", "b", "c"])), item(json!(["a", "b", "d"]))),
        ["- arguments.x(a|b|c): no longer includes \"c\"", "+ arguments.x(a|b|c): now includes \"d\""]
    );
}
