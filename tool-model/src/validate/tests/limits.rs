//! Recursive, hostile and large schemas and values.

use serde_json::{Map, Value, json};

use super::refused::error;
use super::{FITS, Violation, defs, describe, found, lines, no_defs, validator};
use crate::validate::ViolationKind;

#[test]
fn recursive_schemas() {
    let definitions = json!({"Node": {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
        "required": ["value"],
        "additionalProperties": false,
    }});
    let chain = |depth: usize, end: Value| (0..depth).fold(end, |next, value| json!({"value": value, "next": next}));
    let schema = json!({"$ref": "#/$defs/Node"});
    assert_eq!(found(&schema, definitions.clone(), &chain(126, json!(null))), FITS);
    assert_eq!(
        found(&schema, definitions.clone(), &chain(3, json!({"next": 1}))),
        ["next.next.next.value | - | missing, expected integer", "next.next.next.next | 1 | object Node or null"]
    );
    // The text of a path is cut.
    let deep = format!("{}… | - | missing, expected integer", "next.".repeat(40));
    assert_eq!(found(&schema, definitions, &chain(126, json!({}))), [deep]);
}

#[test]
fn hostile_schemas_end() {
    // 2^30 paths through the same definitions.
    let doubling: Map<String, Value> = (0..30)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/D{}", n + 1)});
            (format!("D{n}"), json!({"anyOf": [next, next]}))
        })
        .chain([("D30".to_owned(), json!({"type": "object", "required": ["a"]}))])
        .collect();
    let found =
        |definitions: Value, schema: Value, value: Value| lines(&validator(&schema, definitions).check(&value, ""));
    let too_much = "a smaller or less deeply nested value: this one is too much to check";
    let start = json!({"$ref": "#/$defs/D0"});
    assert_eq!(found(doubling.clone().into(), start.clone(), json!(1)), [format!(" | 1 | {too_much}")]);
    assert!(!validator(&start, doubling.clone().into()).is_valid(&json!(1)));
    let not_start = json!({"not": start});
    assert!(!validator(&not_start, doubling.clone().into()).is_valid(&json!(1)), "unknown is not valid");
    assert!(describe(&start, &defs(doubling.into())).chars().count() <= 600);

    // A chain of definitions far longer than the stack is deep.
    let chain = |end: Value| -> Value {
        let links = (0..50_000).map(|n| (format!("C{n}"), json!({"$ref": format!("#/$defs/C{}", n + 1)})));
        links.chain([("C50000".to_owned(), end)]).collect::<Map<_, _>>().into()
    };
    let start = json!({"$ref": "#/$defs/C0"});
    assert_eq!(found(chain(json!(true)), start.clone(), json!(1)), [format!(" | 1 | {too_much}")]);
    assert!(error(start, chain(json!({"$ref": "#/$defs/C0"}))).contains("refers to itself"));

    let nested = |depth| (0..depth).fold(json!({"type": "string"}), |schema, _| json!({"not": schema}));
    assert!(error(nested(200), no_defs()).ends_with("the schema is nested more than 128 levels deep"));
    assert_eq!(found(no_defs(), nested(100), json!("x")), FITS);
}

#[test]
fn many_items_are_checked_quickly() {
    let validator = validator(&json!({"uniqueItems": true, "items": {"type": "integer"}}), no_defs());
    let mut items: Vec<Value> = (0..50_000).map(Value::from).collect();
    assert!(validator.is_valid(&items.clone().into()));
    items.push(json!(7.0));
    assert_eq!(lines(&validator.check(&items.into(), "ids")), ["ids[50000] | 7.0 | unique item; it repeats `ids[7]`"]);
}

/// `A` is `schema` around a reference to `A`, and the value is as deep.
fn check_to_the_bottom(schema: fn(Value) -> Value, wrap: fn(Value) -> Value, depth: usize) {
    let validator = validator(&json!({"$ref": "#/$defs/A"}), json!({"A": schema(json!({"$ref": "#/$defs/A"}))}));
    let value = (0..depth).fold(json!(1), |inner, _| wrap(inner));
    assert!(!validator.check(&value, "").is_empty());
    assert!(!validator.is_valid(&value));
}

#[test]
fn the_deepest_check_leaves_room_on_the_stack() {
    let check = || {
        let in_object = |inner| json!({"a": inner});
        let in_array = |inner| json!([inner]);
        check_to_the_bottom(|a| json!({"type": "object", "additionalProperties": a}), in_object, 127);
        check_to_the_bottom(|a| json!({"type": "array", "prefixItems": [a]}), in_array, 127);
        check_to_the_bottom(|a| json!({"type": "array", "contains": a}), in_array, 127);
        let all = |a| json!({"type": "array", "items": {"allOf": [{"allOf": [{"allOf": [{"allOf": [a]}]}]}]}});
        check_to_the_bottom(all, in_array, 127);
        let any = |a| json!({"type": "object", "properties": {"a": {"oneOf": [{"anyOf": [{"type": "null"}, a]}]}}});
        check_to_the_bottom(any, in_object, 127);
        let ifs =
            |a| json!({"type": "array", "items": {"if": true, "then": {"if": {"not": {"not": a}}, "else": false}}});
        check_to_the_bottom(ifs, in_array, 127);
        // Never read from a text, but built by code.
        check_to_the_bottom(|a| json!({"type": "array", "items": a}), in_array, 1_000);
    };
    let thread = std::thread::Builder::new().stack_size(1_500_000).spawn(check).expect("a thread");
    thread.join().expect("no overflow");
}

#[test]
fn long_lists_of_values_are_bounded_work() {
    let words: Vec<String> = (0..1_600).map(|n| format!("word{n:04}")).collect();
    let validator = validator(&json!({"items": {"enum": words}}), json!({}));
    let many = |word: &str, count: usize| Value::from(vec![word; count]);
    assert!(validator.is_valid(&many("word1599", 5_000)));
    assert!(!validator.is_valid(&many("word1599", 50_000)), "unknown is not valid");
    let wrong = many("word1599x", 10);
    let (all, first) = (validator.check(&wrong, ""), validator.check_first(3, &wrong, ""));
    assert_eq!((all.len(), first.len()), (10, 3));
    let guesses = |violation: &Violation| matches!(&violation.kind, ViolationKind::Invalid { suggestion: Some(_), .. });
    assert!(guesses(&all[0]) && !guesses(&first[0]), "{first:?}");
}
