//! Values of the right type that violate `#[arg(..)]`, `arguments(..)` or a nested schema.

use serde_json::{Value, json};

use super::{changed, each_refused_at};
use crate::fixtures::{self, paths, refused};

/// A valid call of `rules.bounds`, with one argument changed.
fn bounds(key: &str, value: Value) -> String {
    changed(&json!({"both": 50, "least": 0, "most": 3, "float": 1, "whole": 1}), key, value).to_string()
}

#[test]
fn bounds_are_enforced_on_both_ends() {
    for (key, wrong) in [
        ("both", json!(0)),
        ("both", json!(101)),
        ("least", json!(-6)),
        ("most", json!(6)),
        ("float", json!(0.49)),
        ("float", json!(1.51)),
        ("whole", json!(2.5)),
        ("maybe", json!(2)),
        ("defaulted", json!(4)),
        ("defaulted", json!(10)),
    ] {
        let errors = refused("rules.bounds", &bounds(key, wrong.clone()));
        assert_eq!(paths(&errors), [key], "{wrong}");
        assert_eq!(errors[0].received, Some(wrong.to_string()));
    }
    for (key, right) in [("both", json!(1)), ("both", json!(100)), ("maybe", json!(3)), ("maybe", json!(null))] {
        assert!(fixtures::call("rules.bounds", &bounds(key, right.clone())).success, "{key} {right}");
    }
    let errors = refused("rules.bounds", &bounds("both", json!(0)));
    assert!(errors[0].expected.contains('1') && errors[0].expected.contains("100"), "{errors:?}");
}

#[test]
fn lengths_are_enforced_in_characters_items_and_entries() {
    let good = json!({"text": "abc", "list": [1], "map": {}});
    let call = |key: &str, value: Value| changed(&good, key, value).to_string();
    for (key, wrong) in [
        ("text", json!("a")),
        ("text", json!("abcde")),
        ("text", json!("ä")),
        ("text", json!("🦀🦀🦀🦀🦀")),
        ("list", json!([])),
        ("map", json!({"a": 1, "b": 2, "c": 3})),
        ("maybe", json!("abcd")),
        ("words", json!([])),
        ("words", json!(["a", "b", "c"])),
    ] {
        let errors = refused("rules.lengths", &call(key, wrong.clone()));
        assert_eq!(paths(&errors), [key], "{wrong}");
    }
    for (key, right) in [("text", json!("🦀🦀🦀🦀")), ("text", json!("ab")), ("map", json!({"a": 1, "b": 2}))] {
        assert!(fixtures::call("rules.lengths", &call(key, right.clone())).success, "{key} {right}");
    }
}

#[test]
fn patterns_and_choices_are_enforced() {
    each_refused_at([
        ("rules.patterns", json!({"word": "aBc", "short": "a"}), "word"),
        ("rules.patterns", json!({"word": "", "short": "a"}), "word"),
        ("rules.patterns", json!({"word": "a", "somewhere": "1x2", "short": "a"}), "somewhere"),
        ("rules.patterns", json!({"word": "a", "short": "xa"}), "short"),
        ("rules.patterns", json!({"word": "a", "short": "abcd"}), "short"),
        ("rules.choices", json!({"order": "ASC", "size": 1, "direction": "none", "factor": 1}), "order"),
        ("rules.choices", json!({"order": "asc", "size": 3, "direction": "none", "factor": 1}), "size"),
        ("rules.choices", json!({"order": "asc", "size": 1, "direction": "down_wards", "factor": 1}), "direction"),
        ("rules.choices", json!({"order": "asc", "size": 1, "direction": "none", "factor": 0.6}), "factor"),
        ("rules.choices", json!({"order": "asc", "size": 1, "direction": "none", "factor": 1, "maybe": "z"}), "maybe"),
        (
            "rules.choices",
            json!({"order": "asc", "size": 1, "direction": "none", "factor": 1, "defaulted": "c"}),
            "defaulted",
        ),
        ("rules.anything", json!({"value": "b"}), "value"),
        ("rules.anything", json!({"value": null}), "value"),
        ("docs.attributes_between", json!({"number": 0}), "number"),
    ]);
}

#[test]
fn explicit_schemas_are_enforced() {
    each_refused_at([
        ("explicit.texts", json!({"host": "AB", "exactly": "yes"}), "host"),
        ("explicit.texts", json!({"host": "a", "exactly": "yes"}), "host"),
        ("explicit.texts", json!({"host": "abcdefghi", "exactly": "yes"}), "host"),
        ("explicit.texts", json!({"host": "ab", "exactly": "no"}), "exactly"),
        ("explicit.texts", json!({"host": "ab", "exactly": "yes", "unit": "m"}), "unit"),
        ("explicit.texts", json!({"host": "ab", "exactly": "yes", "at": "today"}), "at"),
        ("explicit.numbers", json!({"port": 0, "ratio": 1, "even": 2}), "port"),
        ("explicit.numbers", json!({"port": 1, "ratio": 0, "even": 2}), "ratio"),
        ("explicit.numbers", json!({"port": 1, "ratio": 1.5, "even": 2}), "ratio"),
        ("explicit.numbers", json!({"port": 1, "ratio": 1, "even": 3}), "even"),
        ("explicit.numbers", json!({"port": 1, "ratio": 1, "even": 2, "maybe": -11}), "maybe"),
        ("explicit.nested", json!({"ports": [], "point": {}, "not_text": 1}), "ports"),
        ("explicit.nested", json!({"ports": [1, 2, 3, 4], "point": {}, "not_text": 1}), "ports"),
        ("explicit.nested", json!({"ports": [1, 1], "point": {}, "not_text": 1}), "ports[1]"),
        ("explicit.nested", json!({"ports": [1, 0], "point": {}, "not_text": 1}), "ports[1]"),
        ("explicit.nested", json!({"ports": [1], "point": {"z": 1}, "not_text": 1}), "point.z"),
        ("explicit.nested", json!({"ports": [1], "point": {}, "labels": {"a": "abcd"}, "not_text": 1}), "labels.a"),
        (
            "explicit.nested",
            json!({"ports": [1], "point": {}, "labels": {"a": "", "b": "", "c": ""}, "not_text": 1}),
            "labels",
        ),
        ("explicit.nested", json!({"ports": [1], "point": {}, "not_text": "text"}), "not_text"),
        ("explicit.flags", json!({}), "needed"),
        ("explicit.flags", json!({"needed": null}), "needed"),
        ("explicit.narrow", json!({"value": {"a": 1, "b": 2}, "not_null": 1}), "value"),
        ("explicit.narrow", json!({"value": 1, "not_null": 1}), "value"),
        ("explicit.narrow", json!({"value": null, "not_null": 1}), "value"),
        ("explicit.narrow", json!({"value": {}, "not_null": null}), "not_null"),
    ]);
}

/// The model is shown the `#[schemars(..)]` rules of a struct's fields, so they are enforced.
#[test]
fn bounds_inside_structs_are_enforced() {
    let good = json!({"stars": 5, "word": "ab", "list": [1]});
    let call = |bounded: Value, list: Value| json!({"bounded": bounded, "list": list});
    let with = |key: &str, value: Value| changed(&good, key, value);
    each_refused_at([
        ("structs.bounded", call(with("stars", json!(0)), json!([])), "bounded.stars"),
        ("structs.bounded", call(with("stars", json!(11)), json!([])), "bounded.stars"),
        ("structs.bounded", call(with("word", json!("a")), json!([])), "bounded.word"),
        ("structs.bounded", call(with("word", json!("AB")), json!([])), "bounded.word"),
        ("structs.bounded", call(with("list", json!([1, 2, 3])), json!([])), "bounded.list"),
        ("structs.bounded", call(good.clone(), json!([good, with("stars", json!(0))])), "list[1].stars"),
    ]);
}

/// The types alone would accept all of these.
#[test]
fn rules_that_only_schemars_knows_are_enforced() {
    let call = |closed: Value, required: Value| json!({"closed": closed, "required": required});
    let (closed, required) = (json!({"count": 1}), json!({"count": 1}));
    each_refused_at([
        ("structs.shown", call(json!({"count": 1, "zz": 2}), required.clone()), "closed.zz"),
        ("structs.shown", call(closed.clone(), json!({})), "required.count"),
        ("structs.shown", call(closed.clone(), json!({"count": 1, "since": -1})), "required.since"),
        ("structs.shown", call(closed.clone(), json!({"count": 1, "mail": "nobody"})), "required.mail"),
        (
            "structs.shown",
            json!({"closed": closed, "required": required, "all": [{"count": 1}, {"count": 2, "zz": 3}]}),
            "all[1].zz",
        ),
    ]);
}

/// Serde ignores unknown fields of a struct, whatever their value; the validation after it must do the same.
#[test]
fn an_unknown_struct_field_does_not_reject_a_call_without_a_reason() {
    for odd in ["1e400", r#""\ud800""#, &format!("{}{}", "[".repeat(200), "]".repeat(200))] {
        let text = format!(r#"{{"bounded": {{"stars": 5, "word": "ab", "list": [], "extra": {odd}}}, "list": []}}"#);
        if !fixtures::call("structs.bounded", &text).success {
            let errors = refused("structs.bounded", &text);
            assert!(errors[0].path.starts_with("bounded"), "{odd}: {errors:?}");
        }
    }
}
