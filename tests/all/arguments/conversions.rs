//! Values that a conversion refuses: the message has path, received, expected and the reason of the type.

use serde_json::{Value, json};

use super::each_refused_at;
use crate::fixtures::{call, refused, repairing};

#[track_caller]
fn line(name: &str, arguments: &Value) -> String {
    let errors = refused(name, &arguments.to_string());
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].to_string()
}

#[test]
fn a_failed_parse_says_why() {
    let arguments = json!({"sha": "1", "other": "12345"});
    assert_eq!(
        line("conversions.parsed_rules", &arguments),
        "`other`: got \"12345\", expected another string (number too large to fit in target type)"
    );
}

#[test]
fn a_failed_conversion_says_why() {
    assert_eq!(
        line("conversions.fallible", &json!({"even": 3, "all": []})),
        "`even`: got 3, expected another integer between 0 and 255 (3 is odd)"
    );
    assert_eq!(
        line("conversions.via_struct", &json!({"span": {"from": 4_294_967_295_u32, "count": 1}, "others": []})),
        "`span`: got {\"count\":1,\"from\":4294967295}, expected another object WrittenSpan (the span is too long)"
    );
}

#[test]
fn a_module_says_why() {
    assert_eq!(
        line("conversions.with", &json!({"wait": 0, "limit": -1, "all": []})),
        "`limit`: got -1, expected another number of at most 60 (a duration is not negative)"
    );
    let wait = line("conversions.with", &json!({"wait": -1, "limit": 0, "all": []}));
    assert!(wait.starts_with("`wait`: ") && wait.contains("a duration is not negative"), "{wait}");
}

#[test]
fn the_item_of_a_list_is_named() {
    let item = line("conversions.fallible", &json!({"even": 2, "all": [2, 4, 5]}));
    assert!(item.starts_with("`all[2]`: got 5, ") && item.contains("5 is odd"), "{item}");
    let item = line("repository.types", &json!({"sha": "x y", "runs": [1], "wait": 1, "level": "low"}));
    assert!(item.starts_with("`sha`: got \"x y\", "), "{item}");
}

#[test]
fn values_of_another_type_and_broken_rules_are_rejected() {
    let via = json!({"run": 1, "lent": 2, "all": [], "slice": []});
    let changed = |key: &str, value: Value| super::changed(&via, key, value);
    each_refused_at([
        ("conversions.via", changed("run", json!(0)), "run"),
        ("conversions.via", changed("run", json!("1")), "run"),
        ("conversions.via", changed("lent", json!(-1)), "lent"),
        ("conversions.via", changed("lent", json!(null)), "lent"),
        ("conversions.via", changed("all", json!([1, 2, 3, 4])), "all"),
        ("conversions.via", changed("all", json!([1, "2"])), "all[1]"),
        ("conversions.via", json!({"run": 1, "lent": 2, "all": []}), "slice"),
        ("conversions.parsed_rules", json!({"sha": 12}), "sha"),
        ("conversions.parsed_rules", json!({"sha": "XY"}), "sha"),
        ("conversions.parsed_rules", json!({"sha": "00000"}), "sha"),
        ("conversions.via_struct", json!({"span": {"from": 1, "count": "2"}, "others": []}), "span.count"),
        ("conversions.with", json!({"wait": 0, "limit": 61, "all": []}), "limit"),
    ]);
}

/// serde ignores unknown fields, the schema does not. The conversion refuses the values by which that is found out.
#[test]
fn a_schema_is_enforced_whatever_the_conversion_refuses() {
    each_refused_at([("conversions.via_struct", json!({"span": {"from": 1, "to": 2}, "others": []}), "span.to")]);
}

/// The schema of the decoded type directs repair.
#[test]
fn a_string_is_repaired_to_the_number_that_is_converted() {
    let text = r#"{"even": "2", "all": ["4"]}"#;
    assert!(!call("conversions.fallible", text).success);
    let repaired = crate::fixtures::call_on(repairing(), "conversions.fallible", text);
    assert_eq!(repaired.output, "Even(2) [Even(4)]");
}

#[test]
fn a_converted_result_keeps_the_error_of_its_tool() {
    let result = call("conversions.debug", r#"{"number": 1000}"#);
    assert_eq!((result.success, result.output.as_str()), (false, "there is no request 1000"));
}
