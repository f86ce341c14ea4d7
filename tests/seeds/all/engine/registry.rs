//! The registry.

use tool_runtime::dialect::Dialect;
use tool_runtime::{Dispatcher, RuntimeTool, Selection};

use crate::support::empty;

fn tool(name: &str, description: &str) -> RuntimeTool {
    RuntimeTool::new(name, description, |(): ()| async {})
}

/// Returns a dispatcher with the tools `write_file`, `read_file` and `list_files`, registered in this order.
fn three() -> Dispatcher {
    let tools = empty().build().unwrap();
    for name in ["write_file", "read_file", "list_files"] {
        tools.registry().register(tool(name, "The first.")).unwrap();
    }
    tools
}

fn names(tools: &Dispatcher) -> Vec<String> {
    tools.registry().names().iter().map(ToString::to_string).collect()
}

/// Requirement 120
#[test]
fn a_second_tool_of_one_name_is_an_error() {
    let tools = three();
    let error = tools.registry().register(tool("read_file", "The second.")).unwrap_err().to_string();
    assert!(error.contains("`read_file`: two tools have this name"), "{error}");
    assert_eq!(tools.registry().get("read_file").unwrap().description, "The first.");
}

/// Requirement 121
#[test]
fn a_tool_can_be_replaced() {
    let tools = three();
    tools.registry().replace(tool("read_file", "The second.")).unwrap();
    assert_eq!(tools.registry().get("read_file").unwrap().description, "The second.");
    assert_eq!(tools.registry().len(), 3);
}

/// Requirement 122
#[test]
fn a_tool_is_found_by_its_name() {
    assert_eq!(three().registry().get("read_file").unwrap().description, "The first.");
}

/// Requirement 123
#[test]
fn a_tool_that_does_not_exist_is_not_found() {
    let tools = three();
    assert!(tools.registry().get("red_file").is_none());
    let error = tools.select(Selection::new().names(["red_file"])).unwrap_err().to_string();
    assert!(error.contains("`red_file`: there is no such tool") && error.contains("`read_file`"), "{error}");
}

/// Requirement 124
#[test]
fn all_tools_are_listed_by_name() {
    let list = three().registry().list();
    assert_eq!(list.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["list_files", "read_file", "write_file"]);
}

/// Requirement 125
#[test]
fn the_schemas_of_all_tools_are_offered() {
    assert_eq!(three().offer(Dialect::OpenAiChat).unwrap().definitions().as_array().unwrap().len(), 3);
}

/// Requirement 126
#[test]
fn the_schemas_of_some_tools_are_offered() {
    let some = three().select(Selection::new().names(["read_file", "list_files"])).unwrap();
    let offer = some.offer(Dialect::OpenAiChat).unwrap();
    let offered: Vec<_> =
        offer.definitions().as_array().unwrap().iter().map(|tool| tool["function"]["name"].clone()).collect();
    assert_eq!(offered, ["list_files", "read_file"]);
}

/// Requirement 127
#[test]
fn the_schema_of_an_unknown_tool_is_an_error() {
    let error = three().select(Selection::new().names(["read_file", "gone"])).unwrap_err().to_string();
    assert!(error.contains("`gone`") && !error.contains("`read_file`: there"), "{error}");
}

/// Requirement 128
#[test]
fn tools_are_filtered_by_name() {
    assert_eq!(names(&three()), ["list_files", "read_file", "write_file"]);
    let some = three().select(Selection::new().names(["write_file"])).unwrap();
    assert_eq!(some.definitions().iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["write_file"]);
}

/// Requirement 129
#[test]
fn the_registry_knows_whether_it_has_a_tool() {
    let tools = three();
    assert!(tools.registry().has("read_file") && !tools.registry().has("gone"));
}

/// Requirement 130
#[test]
fn the_registry_counts_its_tools() {
    assert_eq!(three().registry().len(), 3);
    assert_eq!(empty().build().unwrap().registry().len(), 0);
}

/// Requirement 131
#[test]
fn the_registry_can_be_cleared() {
    let tools = three();
    tools.registry().clear();
    assert!(tools.registry().is_empty() && names(&tools).is_empty());
}
