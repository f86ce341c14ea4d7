//! Definitions of tools.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tool_runtime::dialect::Dialect;
use tool_runtime::{ErrorKind, RuntimeTool, Selection};

use crate::support::{call, empty, kind, linked, output};

/// Requirement 97
#[test]
fn a_tool_has_a_name_and_a_description() {
    let tools = linked();
    assert_eq!(tools.definition("echo").unwrap().description, "Repeat a message.");
    assert!(tools.definitions().iter().any(|(name, _)| &**name == "echo"));
}

/// Requirement 98
#[tokio::test]
async fn the_arguments_of_a_tool_are_a_struct() {
    #[derive(Deserialize, JsonSchema)]
    struct Place {
        town: String,
        days: Option<u8>,
    }
    let weather = RuntimeTool::new("weather", "Report the weather.", |place: Place| async move {
        format!("rain in {} for {:?} days", place.town, place.days)
    });
    let parameters = weather.definition().parameters();
    assert_eq!(
        (&parameters["properties"]["town"]["type"], &parameters["required"]),
        (&json!("string"), &json!(["town"]))
    );
    let tools = empty().tool(weather).build().unwrap();
    assert_eq!(output(&tools, "weather", json!({"town": "Bergen"})).await, "rain in Bergen for None days");
}

/// Requirement 99
#[test]
fn a_tool_is_not_sensitive_unless_it_says_so() {
    let tools = linked();
    assert!(!tools.definition("echo").unwrap().sensitive);
    assert!(tools.definition("system.restart").unwrap().sensitive);
}

/// Requirement 100
#[tokio::test]
async fn a_panic_of_a_handler_is_a_result() {
    assert_eq!(kind(&call(&linked(), "faults.fail", json!({"how": "panic"})).await), ErrorKind::Panicked);
}

/// Requirement 101
#[test]
fn a_definition_has_the_form_of_function_calling() {
    let tools = linked().select(Selection::new().names(["custom.ping"])).unwrap();
    let offer = tools.offer(Dialect::OpenAiChat).unwrap();
    let function = &offer.definitions()[0];
    assert_eq!((&function["type"], &function["function"]["name"]), (&json!("function"), &json!("custom__ping")));
    assert_eq!(function["function"]["description"], "Ping a host.");
    assert_eq!(function["function"]["parameters"]["properties"]["host"]["type"], "string");
    assert_eq!(function["function"]["parameters"]["required"], json!(["host"]));
}

/// Requirement 102
#[test]
fn arguments_can_be_validated_without_a_call() {
    let tools = linked();
    assert!(tools.validate("echo", json!({"message": "hi"})).unwrap().is_empty());
    let error = tools.validate("echo", json!({"message": 1, "times": 10})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidArguments);
    assert!(error.message.contains("times"), "{}", error.message);
}
