//! Lists, definitions, instructions and filters.

use seed_tests::injected::Database;
use serde_json::{Value, json};
use tool_runtime::dialect::Dialect;
use tool_runtime::{Dispatcher, RuntimeTool, Selection, ToolCall};

use crate::support::{builder, linked};

fn names(tools: &Dispatcher) -> Vec<String> {
    tools.definitions().iter().map(|(name, _)| name.to_string()).collect()
}

/// Returns the names of the linked tools that meet criteria given as JSON.
fn filtered(criteria: Value) -> Vec<String> {
    let selection: Selection = serde_json::from_value(criteria).unwrap();
    names(&linked().select(selection).unwrap())
}

/// Requirement 178
#[test]
fn a_tool_is_looked_up_by_name_or_there_is_none() {
    let tools = linked();
    assert!(tools.registry().get("echo").is_some() && tools.registry().get("ecko").is_none());
}

/// Requirement 179
#[test]
fn all_tools_are_listed_with_their_definitions() {
    let list = linked().registry().list();
    assert_eq!(list.len(), linked().registry().len());
    assert!(list.iter().all(|(_, tool)| !tool.description.is_empty()));
}

/// Requirement 180
#[test]
fn all_definitions_have_the_form_of_open_router() {
    let offer = linked().offer(Dialect::OpenRouter).unwrap();
    let definitions = offer.definitions().as_array().unwrap();
    assert_eq!(definitions.len(), linked().registry().len());
    for definition in definitions {
        assert_eq!(definition["type"], "function");
        assert!(definition["function"]["parameters"].is_object(), "{definition}");
    }
}

/// Requirement 181
#[test]
fn the_instructions_of_all_tools_are_one_text_with_blank_lines() {
    let tools = linked().select(Selection::new().names(["accounts.count", "accounts.list"])).unwrap();
    let text = tools.instructions();
    assert_eq!(text, "## accounts.count\nCount before you list.\n\n## accounts.list\nList at most once.\n");
}

/// Requirement 182
#[test]
fn one_tool_has_instructions_of_its_own() {
    let tools = linked().select(Selection::new().names(["accounts.list"])).unwrap();
    assert!(tools.instructions().contains("List at most once.") && !tools.instructions().contains("Count"));
    let other = linked().select(Selection::new().names(["echo"])).unwrap();
    assert!(other.instructions().contains("Repeat a message."), "the description, if there are none");
}

/// Requirement 183
#[test]
fn tools_are_filtered_by_all_of_some_tags() {
    assert_eq!(filtered(json!({"tags": ["accounts"]})), ["accounts.count", "accounts.list"]);
    assert_eq!(filtered(json!({"tags": ["accounts", "list"]})), ["accounts.list"]);
}

/// Requirement 184
#[test]
fn tools_are_filtered_by_their_exact_category() {
    assert_eq!(filtered(json!({"category": "people"})), ["accounts.count", "accounts.list"]);
    assert!(filtered(json!({"category": "peopl"})).is_empty());
}

/// Requirement 185
#[test]
fn a_pattern_of_names_is_anchored_at_the_start() {
    assert_eq!(filtered(json!({"name_pattern": "acc.*t"})), ["accounts.count", "accounts.list"]);
    assert_eq!(filtered(json!({"name_pattern": "accounts\\.c"})), ["accounts.count"]);
    assert!(filtered(json!({"name_pattern": "ccounts"})).is_empty());
}

/// Requirement 186
#[test]
fn tools_are_filtered_by_a_flag() {
    assert_eq!(filtered(json!({"read_only": true})), ["accounts.count", "accounts.list"]);
    assert_eq!(filtered(json!({"sensitive": true})), ["system.restart"]);
}

/// Requirement 187
#[test]
fn criteria_are_combined_in_one_object() {
    let criteria = json!({"tags": ["accounts"], "category": "people", "name_pattern": ".*list"});
    assert_eq!(filtered(criteria), ["accounts.list"]);
}

/// Requirement 188
#[test]
fn streaming_tools_are_filtered_and_unknown_criteria_are_named() {
    let stream = RuntimeTool::new("follow", "Follow a log.", |(): ()| async {}).supports_streaming();
    let tools = builder(&Database::default()).tool(stream).build().unwrap();
    let selection: Selection = serde_json::from_value(json!({"supports_streaming": true})).unwrap();
    assert_eq!(names(&tools.select(selection).unwrap()), ["follow"]);
    let error = serde_json::from_value::<Selection>(json!({"streams": true})).unwrap_err().to_string();
    assert!(error.contains("streams") && error.contains("supports_streaming"), "{error}");
    let custom = Selection::new().predicate(|name, tool| name.starts_with('t') && tool.arguments.len() > 5);
    assert_eq!(names(&tools.select(custom).unwrap()), ["types.show"]);
}

/// Requirement 189
#[test]
fn a_tool_has_no_category_and_no_tags_by_default() {
    let echo = linked().definition("echo").unwrap();
    assert_eq!((&echo.category, echo.tags.len()), (&None, 0));
}

/// Requirement 192
#[tokio::test(start_paused = true)]
async fn tools_run_asynchronously() {
    let tools = linked();
    let start = tokio::time::Instant::now();
    let calls = (0..10).map(|_| ToolCall::new("faults.wait", json!({"milliseconds": 1_000})));
    let results = tools.call_all(calls.collect::<Vec<_>>()).await;
    assert!(results.len() == 10 && results.iter().all(|result| result.output == "done"));
    assert!(start.elapsed().as_millis() < 2_000, "{:?}", start.elapsed());
}

/// Requirement 193
#[test]
fn the_book_shows_the_flows_of_registration_and_of_a_call() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/origins.md");
    let page = std::fs::read_to_string(path).unwrap();
    for (heading, parts) in [
        ("## How a tool is registered", ["linkme", "manifest", "duplicate"]),
        ("## How a call runs", ["validate", "approve", "result"]),
    ] {
        let (_, section) = page.split_once(heading).unwrap_or_else(|| panic!("no section {heading:?}"));
        let diagram = section.split("```").nth(1).unwrap_or_else(|| panic!("{heading:?} has no diagram"));
        assert!(parts.iter().all(|part| diagram.contains(part)), "{diagram}");
    }
}
