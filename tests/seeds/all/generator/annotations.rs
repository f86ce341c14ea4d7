//! `#[tool]` and `#[tool_class]`.

use seed_tests::{functions, services::SystemService};
use serde_json::json;
use tool_runtime::Manifest;

use crate::support::{entry, linked, output};

fn has(name: &str) -> bool {
    Manifest::linked().get(name).is_some()
}

/// Requirement 12
#[tokio::test]
async fn an_annotated_function_is_a_tool_and_stays_a_function() {
    assert_eq!(output(&linked(), "custom.ping", json!({"host": "example.com"})).await, "pinged example.com");
    assert_eq!(functions::ping_host("example.com"), "pinged example.com");
}

/// Requirement 13
#[tokio::test]
async fn the_methods_of_an_annotated_class_are_tools() {
    assert_eq!(output(&linked(), "disks.usage", json!({})).await, "0.5");
    assert_eq!(output(&linked(), "accounts.list", json!({})).await, r#"["ada","ben"]"#);
}

/// Requirement 14
#[test]
fn schemas_are_derived_from_signatures() {
    let arguments = &entry("echo")["arguments"];
    assert_eq!(arguments["message"], json!({"type": "string", "required": true}));
    assert_eq!(arguments["times"]["type"], "integer");
}

/// Requirement 15
#[test]
fn a_session_is_no_argument() {
    assert_eq!(entry("points.write")["arguments"].as_object().unwrap().keys().collect::<Vec<_>>(), ["point"]);
}

/// Requirement 16
#[test]
fn a_repository_is_no_argument() {
    assert_eq!(entry("points.write_twice")["arguments"].as_object().unwrap().keys().collect::<Vec<_>>(), ["point"]);
}

/// Requirement 17
#[test]
fn the_linker_collects_the_tools_of_another_crate() {
    for name in ["echo", "system.build_system_snapshot", "types.show", "points.write"] {
        assert!(has(name), "{name}");
    }
}

/// Requirement 25
#[test]
fn a_function_can_name_its_tool() {
    assert!(has("custom.ping") && !has("ping_host"));
}

/// Requirement 26
#[test]
fn a_tool_is_named_after_its_function() {
    assert!(has("uptime"));
}

/// Requirement 27
#[test]
fn a_function_can_describe_its_tool() {
    assert_eq!(entry("custom.ping")["description"], "Ping a host.");
}

/// Requirement 29
#[test]
fn a_function_can_state_its_arguments() {
    assert_eq!(entry("custom.ping")["arguments"], json!({"host": {"type": "string", "required": true}}));
}

/// Requirement 30
#[test]
fn arguments_that_are_not_stated_are_inferred() {
    assert_eq!(entry("types.labels")["arguments"]["labels"]["type"], "object");
}

/// Requirement 31
#[test]
fn a_function_with_all_overrides_has_exactly_their_entry() {
    let expected = json!({
        "description": "Ping a host.",
        "handler": "seed_tests::functions::ping_host",
        "arguments": {"host": {"type": "string", "required": true}},
    });
    assert_eq!(entry("custom.ping"), expected);
}

/// Requirement 33
#[test]
fn the_prefix_is_the_type_without_service() {
    assert!(has("system.build_system_snapshot"));
}

/// Requirement 34
#[test]
fn only_included_methods_are_exported() {
    assert!(has("disks.usage") && !has("disks.format"));
}

/// Requirement 35
#[test]
fn excluded_methods_are_not_exported() {
    assert!(has("accounts.count") && has("accounts.list") && !has("accounts.reset"));
}

/// Requirement 36
#[test]
fn private_methods_are_not_exported() {
    assert!(has("system.build_system_snapshot") && !has("system.private"));
    assert_eq!(SystemService.build_system_snapshot(), "all is well", "the method is unchanged");
}

/// Requirement 37
#[test]
fn an_attribute_of_a_method_overrides_those_of_its_class() {
    let entry = entry("system.restart");
    assert_eq!(entry["description"], "Restart the machine now.");
    assert_eq!((&entry["sensitive"], has("system.reboot")), (&json!(true), false));
}
