//! Return values of handlers, including errors.

use serde_json::json;
use tool_runtime::ErrorKind;
use tool_tests::returns;

use super::{ValidCall, good, json, wait};
use crate::fixtures;

/// Fixtures that always fail.
pub const ALWAYS: [&str; 2] = ["returns.text_error", "returns.unwritable"];

pub fn calls() -> Vec<ValidCall> {
    vec![
        good("returns.number", json!({}), "-7"),
        good("returns.truth", json!({}), "true"),
        good("returns.unit", json!({}), "ok"),
        good("returns.written_unit", json!({}), "ok"),
        good("returns.unit_result", json!({"fail": false}), "ok"),
        good("returns.string", json!({}), returns::string()),
        good("returns.str", json!({}), returns::str()),
        good("returns.borrowed", json!({"text": " a "}), returns::borrowed(" a ")),
        good("returns.cow", json!({"text": "a b"}), returns::cow("a b")),
        good("returns.cow", json!({"text": "ab"}), returns::cow("ab")),
        good("returns.boxed", json!({}), returns::boxed()),
        good("returns.char", json!({}), "ß"),
        good("returns.option", json!({"some": true}), "some"),
        good("returns.option", json!({"some": false}), "null"),
        good("returns.own_option", json!({}), json(&returns::own_option())),
        good("returns.structure", json!({"host": "web-1"}), json(&returns::structure("web-1"))),
        good("returns.structure", json!({"host": "web-1"}), r#"{"hostName":"web-1","load":0.5}"#),
        good("returns.optional_structure", json!({"some": true}), json(&returns::optional_structure(true))),
        good("returns.optional_structure", json!({"some": false}), "null"),
        good(
            "returns.list",
            json!({"hosts": ["a", "b"]}),
            json(&wait(returns::list(vec!["a".to_owned(), "b".to_owned()])).expect("hosts")),
        ),
        good("returns.map", json!({"key": "7"}), r#"{"7":7}"#),
        good("returns.shown", json!({"fail": false}), "1"),
        good("returns.value", json!({"text": true}), "plain"),
        good("returns.value", json!({"text": false}), r#"{"a":{},"b":[1,null]}"#),
        good("returns.unnamed", json!({}), json(&returns::unnamed())),
        good("returns.tuple", json!({}), json(&returns::tuple())),
        good("returns.pointer", json!({}), json(&returns::pointer())),
        good("returns.big", json!({}), u128::MAX.to_string()),
        good("returns.option_in_result", json!({"some": true}), "there"),
        good("returns.option_in_result", json!({"some": false}), "null"),
    ]
}

#[test]
fn an_error_without_display_is_converted() {
    assert_eq!(failed("conversions.quiet", json!({"number": 10})), "QuietError(10)");
    assert_eq!(failed("conversions.quiet_items", json!({"number": 10})), "E10");
}

#[track_caller]
fn failed(name: &str, arguments: serde_json::Value) -> String {
    let result = fixtures::call(name, &arguments.to_string());
    let error = result.error.expect("a failure has an error");
    assert!(!result.success);
    assert_eq!(error.kind, ErrorKind::Failed);
    assert_eq!(result.output, error.message, "the model reads the error");
    assert!(error.arguments.is_empty());
    result.output
}

#[test]
fn an_error_fails_the_call_with_its_own_message() {
    assert_eq!(failed("returns.text_error", json!({})), "boom");
    assert_eq!(failed("returns.map", json!({"key": "x"})), "invalid digit found in string");
    assert_eq!(failed("future_of_result", json!({"number": 0})), "nothing is below zero");
    assert_eq!(failed("offset.checked", json!({"most": 0})), "1 is more than 0");
}

/// An error type that implements `Serialize` is still an error.
#[test]
fn a_serializable_error_still_fails_the_call() {
    assert_eq!(failed("returns.unit_result", json!({"fail": true})), "it was not found");
    assert_eq!(failed("returns.list", json!({"hosts": []})), "it was not found");
}

/// `anyhow` and similar crates print the error chain in the alternate form, which is for the log.
#[test]
fn an_error_message_does_not_include_its_causes() {
    assert_eq!(failed("returns.shown", json!({"fail": true})), "it failed");
}

#[test]
fn a_result_that_cannot_be_serialized_reports_that_the_tool_ran() {
    let message = failed("returns.unwritable", json!({}));
    assert!(message.contains("ran") && message.contains("JSON"), "{message}");
}
