//! Registration of tools in a dispatcher.

use seed_tests::injected::Database;
use serde_json::json;
use tool_runtime::{Dispatcher, Manifest, RuntimeTool};

use crate::support::{builder, empty, linked, output};

fn tool(name: &str, description: &str) -> RuntimeTool {
    RuntimeTool::new(name, description, |(): ()| async {})
}

/// Requirement 168
#[tokio::test]
async fn a_package_declares_its_tools_by_being_linked() {
    let tools = linked();
    assert!(tools.definition("echo").unwrap().handler.starts_with("seed_tests::"));
    assert_eq!(output(&tools, "echo", json!({"message": "hi"})).await, "hi");
}

/// Requirement 171
#[test]
fn tools_are_discovered_at_the_start_and_on_request() {
    let tools = linked();
    let all = tools.registry().len();
    tools.registry().remove("echo").unwrap();
    assert_eq!(tools.registry().len(), all - 1);
    tools.reload(Manifest::linked()).unwrap();
    assert_eq!(tools.registry().len(), all);
}

/// Requirement 172
#[test]
fn linked_tools_take_precedence_over_later_ones() {
    let tools = linked();
    assert!(!tools.registry().register_or_keep(tool("echo", "From a plugin.")).unwrap());
    assert_eq!(tools.definition("echo").unwrap().description, "Repeat a message.");
}

/// Requirement 173
#[test]
fn a_tool_that_cannot_be_loaded_can_be_skipped() {
    let error = Dispatcher::builder().build().unwrap_err().to_string();
    assert!(error.contains("`points.write`"), "{error}");
    let tools = Dispatcher::builder().lenient().build().unwrap();
    assert!(tools.definition("points.write").is_none() && tools.definition("echo").is_some());
}

/// Requirement 174
#[test]
fn the_first_of_two_runtime_tools_of_one_name_can_be_kept() {
    let tools = empty().build().unwrap();
    assert!(tools.registry().register_or_keep(tool("x", "The first.")).unwrap());
    assert!(!tools.registry().register_or_keep(tool("x", "The second.")).unwrap());
    assert_eq!(tools.definition("x").unwrap().description, "The first.");
}

/// Requirement 177
#[test]
fn all_parts_of_a_program_see_the_same_tools() {
    let tools = empty().build().unwrap();
    let clone = tools.clone();
    tools.registry().register(tool("x", "")).unwrap();
    assert!(clone.registry().has("x"));
    assert_eq!(Manifest::linked(), Manifest::linked());
}

/// Requirement 190
#[test]
fn tools_can_be_cleared_and_discovered_again() {
    let tools = builder(&Database::default()).build().unwrap();
    let all = tools.registry().names();
    tools.registry().register(tool("temporary", "")).unwrap();
    tools.registry().clear();
    assert!(tools.registry().is_empty());
    tools.reload(Manifest::linked()).unwrap();
    assert_eq!(tools.registry().names(), all);
}
