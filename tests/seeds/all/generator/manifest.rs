//! The manifest: what the generator writes and what the dispatcher loads.

use seed_tests::WRITTEN;
use seed_tests::injected::Database;
use serde_json::{Value, json};
use tool_runtime::Manifest;

use crate::support::{builder, entry, output};

fn written() -> Value {
    serde_json::from_str(WRITTEN).unwrap()
}

/// Requirement 18
#[test]
fn the_build_script_writes_what_is_linked() {
    assert_eq!(WRITTEN, Manifest::linked().to_json());
}

/// Requirement 19
#[tokio::test]
async fn a_dispatcher_loads_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tools_calls.json");
    std::fs::write(&path, WRITTEN.replace("Repeat a message.", "Say it again.")).unwrap();
    let tools = builder(&Database::default()).manifest(Manifest::load(&path).unwrap()).build().unwrap();
    assert_eq!(tools.definition("echo").unwrap().description, "Say it again.");
    assert_eq!(output(&tools, "echo", json!({"message": "hi", "times": 2})).await, "hi hi");
}

/// Requirement 38
#[test]
fn the_generator_walks_all_modules() {
    let written = written();
    for module in ["functions", "injected", "services", "types"] {
        let path = format!("seed_tests::{module}::");
        let mut entries = written.as_object().unwrap().values();
        assert!(entries.any(|entry| entry["handler"].as_str().unwrap().starts_with(&path)), "{module}");
    }
}

/// Requirement 39
#[test]
fn the_generator_finds_annotated_functions() {
    assert!(written()["uptime"].is_object());
}

/// Requirement 40
#[test]
fn the_generator_finds_annotated_classes() {
    assert!(written()["accounts.count"].is_object());
}

/// Requirement 41
#[test]
fn the_generator_computes_the_final_name() {
    let written = written();
    assert!(written["disks.usage"].is_object() && written["usage"].is_null());
    assert!(written["system.restart"].is_object() && written["system.reboot"].is_null());
}

/// Requirement 42
#[test]
fn a_manifest_is_written_as_json() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tools_calls.json");
    Manifest::linked().save(&path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), WRITTEN);
}

/// Requirement 45
#[test]
fn an_entry_has_a_description() {
    assert_eq!(entry("echo")["description"], "Repeat a message.");
}

/// Requirement 46
#[test]
fn the_handler_of_a_method_has_module_type_and_name() {
    assert_eq!(entry("accounts.list")["handler"], "seed_tests::services::AccountService::list");
}

/// Requirement 47
#[test]
fn the_handler_of_a_function_has_module_and_name() {
    assert_eq!(entry("echo")["handler"], "seed_tests::functions::echo");
}

/// Requirement 48
#[test]
fn a_tool_without_arguments_has_an_empty_object() {
    assert_eq!(entry("uptime")["arguments"], json!({}));
}

/// Requirement 49
#[test]
fn a_method_without_overrides_has_the_documented_entry() {
    let expected = json!({
        "description": "Return a snapshot of the system.",
        "handler": "seed_tests::services::SystemService::build_system_snapshot",
        "arguments": {},
    });
    assert_eq!(entry("system.build_system_snapshot"), expected);
}

/// Requirement 50
#[test]
fn a_handler_that_does_not_exist_any_more_is_reported() {
    let stale = WRITTEN.replace("functions::echo\"", "functions::parrot\"");
    let error = builder(&Database::default()).manifest(Manifest::from_json(&stale)).build().unwrap_err().to_string();
    assert!(error.contains("`echo`") && error.contains("functions::parrot"), "{error}");
}
