//! The log of building, changing and selecting tools: `debug` for everything that happens, `warn` for what is skipped.

use tool_runtime::{Dispatcher, Manifest, RuntimeTool, Selection};
use tracing::Level;

use crate::error_texts::Log;
use crate::fixtures;

fn tool(name: &str) -> RuntimeTool {
    RuntimeTool::new(name, "Does nothing.", |()| async {})
}

/// Asserts that exactly one line has the level, the target and all parts.
fn assert_logged(text: &str, level: &str, target: &str, parts: &[&str]) {
    let target = format!(" {target}: ");
    let is_meant =
        |line: &&str| line.contains(level) && line.contains(&target) && parts.iter().all(|part| line.contains(part));
    assert_eq!(text.lines().filter(is_meant).count(), 1, "{level} {target} {parts:?} in\n{text}");
}

#[test]
fn logs_what_happens_to_the_tools() {
    let log = Log::default();
    let _recording = log.record_from(Level::DEBUG);
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(tool("log.first")).build().unwrap();
    let text = log.text();
    assert_logged(&text, "DEBUG", "tool_runtime::dispatch::build::builder", &["dispatcher built", "tools=1"]);
    // A linked tool that the manifest does not list.
    assert_logged(&text, "DEBUG", "tool_runtime::dispatch::build::bind", &["tool not offered", "tool=\"add\""]);
    assert!(!text.contains("WARN"), "{text}");

    let registry = tools.registry();
    registry.register(tool("log.second")).unwrap();
    registry.disable("log.second").unwrap();
    registry.enable("log.second").unwrap();
    let selected = tools.select(Selection::new().names(["log.first"])).unwrap();
    assert!(registry.remove("log.second").is_some());
    tools.reload(Manifest::default()).unwrap();
    registry.clear();
    let text = log.text();
    for event in ["tool disabled", "tool enabled", "tool removed"] {
        assert_logged(&text, "DEBUG", "tool_runtime::registry", &[event, "tool=\"log.second\""]);
    }
    assert_logged(&text, "DEBUG", "tool_runtime::registry", &["all tools removed"]);
    assert_logged(&text, "DEBUG", "tool_runtime::dispatch::dispatcher::tools", &["tools selected", "tools=1", "of=2"]);
    assert_logged(&text, "DEBUG", "tool_runtime::dispatch::dispatcher::tools", &["manifest loaded", "tools=1"]);
    drop(selected);

    // A change that fails is reported to its caller only.
    registry.disable("log.none").unwrap_err();
    assert_eq!(log.text(), "");
}

#[test]
fn warns_of_skipped_tools() {
    let log = Log::default();
    let _recording = log.record_from(Level::WARN);
    let mut manifest = fixtures::theme("functions");
    let (name, mut stale) = manifest.iter().next().map(|(name, tool)| (name.to_owned(), tool.clone())).unwrap();
    stale.arguments.clear();
    stale.returns = None;
    stale.handler = "nowhere::to_be_found".to_owned();
    manifest.insert(name.clone(), stale);
    fixtures::builder().manifest(manifest).lenient().build().unwrap();
    let text = log.text();
    assert_logged(&text, "WARN", "tool_runtime::dispatch::build::problem", &["skipped: ", &format!("`{name}`")]);

    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(tool("log.first")).build().unwrap();
    log.text();
    assert!(!tools.registry().register_or_keep(tool("log.first")).unwrap());
    assert_logged(&log.text(), "WARN", "tool_runtime::registry::tool_table", &["skipped: ", "`log.first`"]);
}
