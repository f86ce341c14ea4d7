//! Previews: what a call would do, without making it.

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tool_runtime::{Dispatcher, Effect, ErrorKind, ToolCall, ToolError};

use crate::fixtures;

fn preview(name: &str, arguments: Value) -> Result<Option<Effect>, ToolError> {
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(fixtures::tools().call(ToolCall::new(name, arguments)).preview())
}

#[track_caller]
fn shown(name: &str, arguments: Value) -> Effect {
    preview(name, arguments).unwrap_or_else(|error| panic!("{name}: {error}")).expect("a preview")
}

#[track_caller]
fn failed(name: &str, arguments: Value) -> (ErrorKind, String) {
    let error = preview(name, arguments).expect_err("a failure");
    (error.kind, error.message)
}

#[test]
fn a_preview_accepts_the_arguments_of_its_tool_in_forms_of_its_own() {
    let effect = shown("previews.write", json!({"path": "a/b", "text": "new", "copies": 2}));
    assert_eq!(effect, Effect::Diff { path: Some("a/b".into()), before: "0".into(), after: "new".into() });
    let effect = shown("previews.write", json!({"path": "a", "text": "by default"}));
    assert_eq!(effect, Effect::Diff { path: Some("a".into()), before: "0".into(), after: "by default".into() });
    assert_eq!(shown("options.all", json!({"number": 7})), Effect::Text("give back 7".into()));
}

#[test]
fn a_preview_receives_converted_arguments() {
    assert_eq!(shown("repository.rerun", json!({"run": 7})), Effect::Text("run 7 again".into()));
    assert_eq!(failed("repository.rerun", json!({"run": -7})).0, ErrorKind::InvalidArguments);
}

#[test]
fn a_preview_has_injected_values_of_its_own() {
    let effect = shown("previews.execute", json!({"table": "hosts"}));
    assert_eq!(effect, Effect::Statement("delete from hosts where session = 42".into()));
    assert_eq!(shown("previews.function", json!({"text": "say it"})), Effect::Text("say it 42 times".into()));
}

#[test]
fn the_preview_of_a_blocking_tool_runs_on_a_blocking_thread() {
    let Effect::Command(command) = shown("previews.run", json!({"command": "ls"})) else { panic!("a command") };
    assert!(command.starts_with("ls on ") && command != "ls on main", "{command}");
}

#[test]
fn errors_of_a_call_are_errors_of_its_preview() {
    let (kind, message) = failed("previews.write", json!({"path": "a", "txt": "b"}));
    assert_eq!(kind, ErrorKind::InvalidArguments);
    assert!(message.contains("did you mean `text`?"), "{message}");
    assert_eq!(failed("previews.wrote", json!({})).0, ErrorKind::UnknownTool);
}

#[test]
fn a_preview_can_fail_in_every_way() {
    let message = "nobody deletes users".to_owned();
    assert_eq!(failed("previews.execute", json!({"table": "users"})), (ErrorKind::Failed, message));
    assert_eq!(failed("previews.fallible", json!({"amount": -1})).1, "less than nothing");
    assert_eq!(failed("previews.panicking", json!({})).0, ErrorKind::Panicked);
    assert_eq!(failed("previews.slow", json!({})).0, ErrorKind::TimedOut);
}

#[test]
fn a_tool_without_a_preview_shows_nothing() {
    assert_eq!(preview("hints.number", json!({"text": "1"})), Ok(None));
}

#[test]
fn a_preview_is_not_a_tool() {
    let manifest = fixtures::theme("previews");
    assert_eq!(manifest.iter().filter(|(name, _)| name.contains("show")).count(), 0);
}

/// A preview needs its own providers, and `build()` says so.
#[test]
fn a_preview_without_its_provider_is_reported() {
    let manifest = fixtures::manifest().iter().filter(|(name, _)| *name == "previews.execute");
    let manifest = manifest.map(|(name, tool)| (name.to_owned(), tool.clone())).collect::<tool_runtime::Manifest>();
    let session = tool_tests::options::Session("session");
    let error = Dispatcher::builder().manifest(manifest).value("session", session).build().expect_err("a problem");
    assert!(error.to_string().contains("its preview: the parameter `number` of type `u64`"), "{error}");
}

/// User interfaces and journals read effects: their form is stable.
#[test]
fn an_effect_is_plain_json() {
    let diff = Effect::Diff { path: None, before: "a".into(), after: "b".into() };
    for (effect, text) in [
        (diff, json!({"diff": {"before": "a", "after": "b"}})),
        (Effect::Command("ls".into()), json!({"command": "ls"})),
        (Effect::Statement("select 1".into()), json!({"statement": "select 1"})),
        (Effect::from("words"), json!({"text": "words"})),
    ] {
        assert_eq!(serde_json::to_value(&effect).expect("JSON"), text);
        assert_eq!(serde_json::from_value::<Effect>(text).expect("an effect"), effect);
    }
}
