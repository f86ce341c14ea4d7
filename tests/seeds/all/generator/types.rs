//! The JSON types of arguments.

use serde_json::{Value, json};
use tool_runtime::ErrorKind;

use crate::support::{call, entry, kind, linked, output};

fn argument(name: &str) -> Value {
    entry("types.show")["arguments"][name].clone()
}

/// Returns valid arguments of `types.show`, with one replaced.
fn arguments(name: &str, value: Value) -> Value {
    let mut arguments = json!({
        "text": "a", "path": "b/c", "id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "time": "2026-11-18T14:00:00Z",
        "date": "2026-11-18", "integer": 42, "number": 1.5, "boolean": true, "list": ["x"], "tuple": [1, "y"],
        "set": ["p", "q"], "map": {"k": 7}, "any": {"free": null},
    });
    arguments[name] = value;
    arguments
}

/// Checks that an argument takes one value and not another.
async fn takes(name: &str, valid: Value, shown: &str, invalid: Value) {
    let tools = linked();
    let shows = output(&tools, "types.show", arguments(name, valid)).await;
    assert!(shows.contains(shown), "{shows}");
    assert_eq!(kind(&call(&tools, "types.show", arguments(name, invalid)).await), ErrorKind::InvalidArguments);
}

/// Requirement 51
#[tokio::test]
async fn text_is_a_string() {
    assert_eq!(argument("text"), json!({"type": "string", "required": true}));
    takes("text", json!("hello"), "hello", json!([])).await;
}

/// Requirement 52
#[tokio::test]
async fn a_path_is_a_string() {
    assert_eq!(argument("path")["type"], "string");
    takes("path", json!("src/main.rs"), "src/main.rs", json!(true)).await;
}

/// Requirement 53
#[tokio::test]
async fn a_uuid_is_a_string() {
    assert_eq!((&argument("id")["type"], &argument("id")["format"]), (&json!("string"), &json!("uuid")));
    let id = "00000000-0000-4000-8000-000000000001";
    takes("id", json!(id), id, json!("1")).await;
}

/// Requirement 54
#[tokio::test]
async fn a_time_is_a_string() {
    assert_eq!((&argument("time")["type"], &argument("time")["format"]), (&json!("string"), &json!("date-time")));
    takes("time", json!("2026-01-02T03:04:05Z"), "2026-01-02 03:04:05 UTC", json!("soon")).await;
}

/// Requirement 55
#[tokio::test]
async fn a_date_is_a_string() {
    assert_eq!((&argument("date")["type"], &argument("date")["format"]), (&json!("string"), &json!("date")));
    takes("date", json!("2026-01-02"), "2026-01-02", json!("2026-02-30")).await;
}

/// Requirement 56
#[tokio::test]
async fn an_integer_is_an_integer() {
    assert_eq!(argument("integer")["type"], "integer");
    takes("integer", json!(-7), " -7 ", json!(1.5)).await;
}

/// Requirement 57
#[tokio::test]
async fn a_float_is_a_number() {
    assert_eq!(argument("number")["type"], "number");
    takes("number", json!(2.25), " 2.25 ", json!("much")).await;
}

/// Requirement 58
#[tokio::test]
async fn a_bool_is_a_boolean() {
    assert_eq!(argument("boolean")["type"], "boolean");
    takes("boolean", json!(false), " false ", json!("perhaps")).await;
}

/// Requirement 59
#[tokio::test]
async fn a_list_is_an_array() {
    assert_eq!(argument("list")["type"], "array");
    takes("list", json!(["one", "two"]), r#"["one", "two"]"#, json!([[1]])).await;
}

/// Requirement 60
#[tokio::test]
async fn a_tuple_is_an_array() {
    assert_eq!(argument("tuple")["type"], "array");
    takes("tuple", json!([5, "five"]), r#"(5, "five")"#, json!([5])).await;
}

/// Requirement 61
#[tokio::test]
async fn a_set_is_an_array_whose_repeated_items_are_dropped() {
    assert_eq!((&argument("set")["type"], &argument("set")["uniqueItems"]), (&json!("array"), &json!(true)));
    takes("set", json!(["a", "b", "c"]), " 3 ", json!({})).await;
    let result = call(&linked(), "types.show", arguments("set", json!(["a", "a"]))).await;
    assert!(result.success && result.output.contains(" 1 "), "{}", result.output);
    assert!(result.metadata.get("repairs").is_some());
}

/// Requirement 62
#[tokio::test]
async fn a_map_is_an_object() {
    assert_eq!(argument("map")["type"], "object");
    takes("map", json!({"a": 1}), r#"{"a": 1}"#, json!({"a": "many"})).await;
}

/// Requirement 63
#[tokio::test]
async fn any_value_is_accepted_where_the_type_says_nothing() {
    assert_eq!(argument("any")["type"], "any");
    let tools = linked();
    for value in [json!(null), json!(1), json!("x"), json!([{}])] {
        let shown = value.to_string();
        assert!(output(&tools, "types.show", arguments("any", value)).await.ends_with(&shown), "{shown}");
    }
}

/// Requirement 64
#[tokio::test]
async fn a_struct_is_an_object_with_the_schema_of_its_fields() {
    let entry = entry("types.ship");
    assert_eq!(entry["$defs"]["Address"]["required"], json!(["town"]));
    let tools = linked();
    let shipped = output(&tools, "types.ship", json!({"address": {"town": "Bergen", "number": 7}})).await;
    assert_eq!(shipped, "to Bergen Some(7)");
    let wrong = call(&tools, "types.ship", json!({"address": {"number": 7}})).await;
    assert!(wrong.output.contains("town"), "{}", wrong.output);
}

/// Requirement 65
#[tokio::test]
async fn an_argument_is_required_without_a_default_unless_it_is_optional() {
    let arguments = entry("types.required")["arguments"].clone();
    let required = ["needed", "optional", "with_default"].map(|name| arguments[name]["required"].clone());
    assert_eq!(required, [json!(true), json!(false), json!(false)]);
    let tools = linked();
    assert_eq!(output(&tools, "types.required", json!({"needed": 1})).await, "1 None 3");
    assert_eq!(kind(&call(&tools, "types.required", json!({})).await), ErrorKind::InvalidArguments);
}

/// Requirement 67
#[test]
fn the_receiver_is_no_argument() {
    assert_eq!(entry("accounts.count")["arguments"], json!({}));
}

/// Requirement 68
#[test]
fn injected_parameters_are_no_arguments() {
    for name in ["internet.target", "context.origin"] {
        assert_eq!(entry(name)["arguments"], json!({}), "{name}");
    }
}

/// Requirement 69
#[tokio::test]
async fn a_map_takes_arguments_whose_names_are_not_known() {
    assert_eq!(output(&linked(), "types.labels", json!({"labels": {"a": "1", "b": "2"}})).await, "2");
    let unknown = call(&linked(), "uptime", json!({"other": 1})).await;
    assert_eq!(kind(&unknown), ErrorKind::InvalidArguments, "a tool takes no arguments beside its own");
}
